"""What style sheets and style attributes declare, and which declarations hide text: tinycss2 parses, this says what it means.

Rules inside @media and the like, linked style sheets and scripts are not followed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

#: What hiding takes; other declarations are passed over.
PROPERTIES = frozenset(
    {
        *("display", "visibility", "content-visibility", "opacity", "font-size", "font", "position", "overflow", "overflow-x"),
        *("overflow-y", "width", "height", "max-width", "max-height", "left", "right", "top", "bottom", "text-indent"),
        *("margin-left", "margin-top", "clip", "clip-path", "transform", "color", "background", "background-color"),
        "-webkit-text-fill-color",
    }
)
MAX_SHEET_CHARACTERS = 500_000
MAX_STYLE_CHARACTERS = 5_000

USUAL_FONT_PX = 16.0
NEARLY_NOTHING_PX = 1.0
#: Text this far to the left of its place or above it is off the screen.
OFF_SCREEN_PX = -500.0
NEARLY_TRANSPARENT = 0.05
#: Colours whose channels differ by no more look the same.
SAME_COLOUR = 16

_PX_OF_UNIT = {"px": 1.0, "pt": 4 / 3, "em": 16.0, "rem": 16.0, "ex": 8.0, "ch": 8.0, "vw": 12.0, "vh": 8.0}
_PX_OF_PERCENT = 12.0
_FONT_SIZES = ("xx-", "x-", "small", "medium", "large", "initial")

#: A token of CSS: tinycss2 has no types.
Token = Any
#: What a property is set to: tokens, without white space and comments.
Value = Sequence[Token]
Style = Mapping[str, Value]
#: Red, green, blue (0 to 255), opacity (0 to 1).
Colour = tuple[float, float, float, float]
WHITE: Colour = (255.0, 255.0, 255.0, 1.0)


class Weight(NamedTuple):
    """What decides between declarations of one property before their order does (CSS Cascading, section 6): the larger wins."""

    important: bool = False
    inline: bool = False


Weighed = dict[str, tuple[Weight, Value]]


def declarations(style: str | Value, *, inline: bool = False) -> Weighed:
    """The declarations of a style attribute or a rule that bear on what is seen."""
    from tinycss2 import parse_blocks_contents

    found: Weighed = {}
    for part in parse_blocks_contents(style[:MAX_STYLE_CHARACTERS] if isinstance(style, str) else style):
        if part.type == "declaration" and part.lower_name in PROPERTIES:
            weigh(found, {part.lower_name: (Weight(part.important, inline), tokens(part.value))})
    return found


def weigh(styles: Weighed, more: Weighed) -> None:
    """Adds declarations; of those of one property the weightier stays, the later of two alike."""
    for name, (weight, value) in more.items():
        if name not in styles or weight >= styles[name][0]:
            styles[name] = (weight, value)


def rules(sheets: Iterable[str]) -> Iterator[tuple[Sequence[Token], Weighed]]:
    """Each selector in style sheets whose rule bears on what is seen, and what the rule declares."""
    from tinycss2 import parse_stylesheet

    left = MAX_SHEET_CHARACTERS
    for sheet in sheets:
        for rule in parse_stylesheet(sheet[:left]):
            if rule.type == "qualified-rule" and (declared := declarations(rule.content)):
                commas = [-1, *(place for place, token in enumerate(rule.prelude) if token == ","), len(rule.prelude)]
                yield from ((rule.prelude[start + 1 : end], declared) for start, end in pairwise(commas))
        left = max(0, left - len(sheet))


def tokens(value: Iterable[Token]) -> Value:
    """What of a value bears on its meaning: no white space, comments and commas."""
    return [token for token in value if token.type not in {"whitespace", "comment"} and token != ","]


def words(style: Style, name: str) -> list[str]:
    """The words in a property's value, in lower case; none where it is not set."""
    return [token.lower_value for token in style.get(name, ()) if token.type == "ident"]


def hides(style: Style) -> bool:
    """Whether an element of this style shows nothing of what is in it, whatever that declares."""
    if words(style, "display") == ["none"] or words(style, "content-visibility") == ["hidden"]:
        return True
    return _is_transparent(style) or _has_no_room(style) or _is_clipped(style) or _is_off_screen(style)


def font_size(style: Style, inherited: float) -> float:
    """The size of an element's letters in pixels."""
    for name in ("font-size", "font"):
        for token in style.get(name, ()):
            # In the short form a number without a unit is a weight, unless it is 0.
            if name == "font" and token.type == "number" and token.value:
                continue
            if token.type == "percentage" or (token.type == "dimension" and token.lower_unit == "em"):
                return float(inherited * token.value / (100 if token.type == "percentage" else 1))
            if (size := pixels(token)) is not None:
                return size
            if token.type == "function" or (token.type == "ident" and token.lower_value.startswith(_FONT_SIZES)):
                return USUAL_FONT_PX
    return inherited


def colour(value: Value) -> Colour | None:
    """The colour that a declaration names; None where it names none that is known, or a picture."""
    from tinycss2.color4 import parse_color

    found = None
    for token in value:
        try:
            named = parse_color(token)
            found = found or (named.to("srgb") if named and named != "currentcolor" else None)
        except (ValueError, NotImplementedError):  # functions without arguments; colour spaces that it does not convert
            named = None
        if named is None and token.type in {"url", "function"}:
            return None
    return (*(255 * min(1.0, max(0.0, channel)) for channel in found.coordinates), found.alpha) if found else None


def looks_like(one: Colour, other: Colour) -> bool:
    """Whether text of the one colour on the other cannot be read."""
    return one[3] <= NEARLY_TRANSPARENT or all(abs(a - b) <= SAME_COLOUR for a, b in zip(one[:3], other[:3], strict=True))


def pixels(token: Token) -> float | None:
    """A length in pixels, a relative one of a usual screen and font; None for anything else."""
    if token.type == "dimension" and token.lower_unit in _PX_OF_UNIT:
        return float(token.value * _PX_OF_UNIT[token.lower_unit])
    if token.type == "percentage":
        return float(token.value * _PX_OF_PERCENT)
    return float(token.value) if token.type == "number" else None


def _lengths(style: Style, *names: str) -> list[float]:
    return [length for name in names for token in style.get(name, ()) if (length := pixels(token)) is not None]


def _functions(style: Style, *names: str) -> list[tuple[str, Value]]:
    found = [token for name in names for token in style.get(name, ()) if token.type == "function"]
    return [(token.lower_name, tokens(token.arguments)) for token in found]


def _is_transparent(style: Style) -> bool:
    most = {"number": NEARLY_TRANSPARENT, "percentage": 100 * NEARLY_TRANSPARENT}
    return any(token.type in most and token.value <= most[token.type] for token in style.get("opacity", ()))


def _has_no_room(style: Style) -> bool:
    narrow = any(0 <= size <= NEARLY_NOTHING_PX for size in _lengths(style, "width", "height", "max-width", "max-height"))
    overflow = {word for name in ("overflow", "overflow-x", "overflow-y") for word in words(style, name)}
    return narrow and not overflow.isdisjoint({"hidden", "clip"})


def _is_clipped(style: Style) -> bool:
    for name, arguments in _functions(style, "clip", "clip-path"):
        nothing = [(size := pixels(argument)) is not None and size <= NEARLY_NOTHING_PX for argument in arguments]
        if {"rect": all(nothing), "polygon": all(nothing), "circle": nothing[:1] == [True]}.get(name):
            return True
        if name == "inset" and [argument.value for argument in arguments[:1] if argument.type == "percentage"] in ([50], [100]):
            return True
    return False


def _is_off_screen(style: Style) -> bool:
    moved = ["text-indent", "margin-left", "margin-top"]
    if set(words(style, "position")) & {"absolute", "fixed", "relative", "sticky"}:
        moved += ["left", "right", "top", "bottom"]
    if any(place <= OFF_SCREEN_PX for place in _lengths(style, *moved)):
        return True
    for name, arguments in _functions(style, "transform"):
        # A share of its own size moves an element to the middle.
        shifts = [argument.value for argument in arguments if argument.type == "dimension" and argument.lower_unit == "px"]
        if name.startswith("translate") and any(shift <= OFF_SCREEN_PX for shift in shifts):
            return True
        factors = [argument.value for argument in arguments if argument.type == "number"]
        if name in {"scale", "scalex", "scaley"} and 0 in factors:
            return True
    return False
