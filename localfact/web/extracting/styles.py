"""What CSS does to the text in an element: which styles hide it, and how it looks otherwise."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from localfact.web.extracting.sums import compute

#: The properties that can hide text; other declarations are ignored.
PROPERTIES = frozenset(
    {
        *("display", "visibility", "content-visibility", "opacity", "font-size", "font", "position", "overflow", "overflow-x"),
        *("overflow-y", "width", "height", "max-width", "max-height", "left", "right", "top", "bottom", "text-indent"),
        *("margin-left", "margin-top", "clip", "clip-path", "transform", "color", "background", "background-color"),
        "-webkit-text-fill-color",
    }
)

USUAL_FONT_PX = 16.0
NEARLY_NOTHING_PX = 1.0
#: Text this far to the left of its place or above it is off the screen.
OFF_SCREEN_PX = -500.0
NEARLY_TRANSPARENT = 0.05
#: Colours whose channels differ by no more look the same.
SAME_COLOUR = 16

_PX_OF_UNIT = {"px": 1.0, "pt": 4 / 3, "em": 16.0, "rem": 16.0, "ex": 8.0, "ch": 8.0, "vw": 12.0, "vh": 8.0, "%": 12.0, "": 1.0}
_FONT_SIZES = ("xx-", "x-", "small", "medium", "large", "initial")

#: A token of CSS: tinycss2 has no types.
Token = Any
#: What a property is set to: tokens, without white space and comments.
Value = Sequence[Token]
Style = Mapping[str, Value]
#: Red, green, blue (0 to 255), opacity (0 to 1).
Colour = tuple[float, float, float, float]
WHITE: Colour = (255.0, 255.0, 255.0, 1.0)


class Ink(NamedTuple):
    """How text looks at some place; a colour is None where it is not known."""

    text: Colour | None = None
    behind: Colour | None = None
    font_px: float = USUAL_FONT_PX
    visible: bool = True

    @property
    def is_seen(self) -> bool:
        """Whether text of this look can be seen."""
        if not self.visible or self.font_px <= NEARLY_NOTHING_PX:
            return False
        if self.text is None or self.behind is None:
            return self.text is None or self.text[3] > 0
        alike = all(abs(one - other) <= SAME_COLOUR for one, other in zip(self.text[:3], self.behind[:3], strict=True))
        return self.text[3] > NEARLY_TRANSPARENT and not alike

    def style_child(self, style: Style) -> "Ink":
        """How text looks in a child element of this style."""
        text, behind = self.text, self.behind
        if own := style.get("-webkit-text-fill-color") or style.get("color"):
            text = colour(own)
        for name in ("background", "background-color"):
            if name in style and ((found := colour(style[name])) is None or found[3] > 0):
                behind = found
        visibility = words(style, "visibility")
        visible = self.visible if visibility in ([], ["inherit"]) else visibility not in (["hidden"], ["collapse"])
        return Ink(text, behind, font_size(style, self.font_px), visible)


def tokens(value: Iterable[Token]) -> Value:
    """The tokens of a value without white space, comments and commas."""
    return [token for token in value if token.type not in {"whitespace", "comment"} and token != ","]


def words(style: Style, *names: str) -> list[str]:
    """The words in properties' values, in lower case; none where they are not set."""
    return [token.lower_value for name in names for token in style.get(name, ()) if token.type == "ident"]


def hides(style: Style) -> bool:
    """Whether an element of this style hides all its content, whatever that declares."""
    if words(style, "display") == ["none"] or words(style, "content-visibility") == ["hidden"]:
        return True
    opacities = [amount(token) for token in style.get("opacity", ())]
    if any(opacity is not None and opacity <= NEARLY_TRANSPARENT for opacity in opacities):
        return True
    narrow = any(0 <= size <= NEARLY_NOTHING_PX for size in _lengths(style, "width", "height", "max-width", "max-height"))
    if narrow and not {"hidden", "clip"}.isdisjoint(words(style, "overflow", "overflow-x", "overflow-y")):
        return True
    return _is_clipped(style) or _is_off_screen(style)


def font_size(style: Style, inherited: float) -> float:
    """The font size of an element in pixels."""
    # In the short form a number without a unit is a weight, unless it is 0.
    short = (token for token in style.get("font", ()) if token.type != "number" or not token.value)
    for token in (*style.get("font-size", ()), *short):
        if token.type == "percentage" or (token.type == "dimension" and token.lower_unit == "em"):
            return float(inherited * token.value / (100 if token.type == "percentage" else 1))
        relative = token.type == "function" and any(each.type == "percentage" for each in token.arguments)
        if not relative and (size := pixels(token)) is not None:
            return size
        if token.type == "function" or (token.type == "ident" and token.lower_value.startswith(_FONT_SIZES)):
            return USUAL_FONT_PX
    return inherited


def colour(value: Value) -> Colour | None:
    """The colour that a declaration sets; None for an unknown one or a picture."""
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


def pixels(token: Token) -> float | None:
    """A length in pixels, relative ones converted for a usual screen and font, sums computed; None for anything else."""
    unit = token.lower_unit if token.type == "dimension" else {"percentage": "%", "number": ""}.get(token.type)
    return float(token.value * _PX_OF_UNIT[unit]) if unit in _PX_OF_UNIT else compute(token, pixels)


def amount(token: Token) -> float | None:
    """A number, or a percentage as a share of 1; None for anything else."""
    if token.type in ("number", "percentage"):
        return float(token.value / (100 if token.type == "percentage" else 1))
    return compute(token, amount)


def _lengths(style: Style, *names: str) -> list[float]:
    return [length for name in names for token in style.get(name, ()) if (length := pixels(token)) is not None]


def _functions(style: Style, *names: str) -> list[tuple[str, Value]]:
    found = [token for name in names for token in style.get(name, ()) if token.type == "function"]
    return [(token.lower_name, tokens(token.arguments)) for token in found]


def _is_clipped(style: Style) -> bool:
    for name, arguments in _functions(style, "clip", "clip-path"):
        nothing = [(size := pixels(argument)) is not None and size <= NEARLY_NOTHING_PX for argument in arguments]
        halved = [argument.value for argument in arguments[:1] if argument.type == "percentage"] in ([50], [100])
        if {"rect": all(nothing), "polygon": all(nothing), "circle": nothing[:1] == [True], "inset": halved}.get(name):
            return True
    return False


def _is_off_screen(style: Style) -> bool:
    moved = ["text-indent", "margin-left", "margin-top"]
    if set(words(style, "position")) & {"absolute", "fixed", "relative", "sticky"}:
        moved += ["left", "right", "top", "bottom"]
    if any(place <= OFF_SCREEN_PX for place in _lengths(style, *moved)):
        return True
    for name, arguments in _functions(style, "transform"):
        # Percentages are ignored: they centre elements.
        shifts = [argument.value for argument in arguments if argument.type == "dimension" and argument.lower_unit == "px"]
        if name.startswith("translate") and any(shift <= OFF_SCREEN_PX for shift in shifts):
            return True
        factors = [argument.value for argument in arguments if argument.type == "number"]
        if name in {"scale", "scalex", "scaley"} and 0 in factors:
            return True
    return False
