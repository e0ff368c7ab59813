"""As much of CSS as it takes to know text that nobody sees: declarations, simple rules, lengths, colours.

Rules inside @media and the like, combined selectors, linked style sheets and scripts are not followed.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

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
MAX_RULES = 5_000
MAX_STYLE_CHARACTERS = 5_000

USUAL_FONT_PX = 16.0
NEARLY_NOTHING_PX = 1.0
#: Text this far to the left of its place or above it is off the screen.
OFF_SCREEN_PX = -500.0
NEARLY_TRANSPARENT = 0.05
#: Colours whose channels differ by no more look the same.
SAME_COLOUR = 16

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})\s?|(.))", re.DOTALL)
_SELECTOR = re.compile(r"(?P<tag>[a-z][a-z0-9]*)?(?P<rest>(?:[.#][\w-]+)*)")
_BRACES = re.compile("[{};]")
_LENGTH = re.compile(r"(-?\d*\.?\d+)(px|pt|r?em|ex|ch|v[wh]|%|)(?![\w.])")
_PX_OF_UNIT = {"px": 1.0, "": 1.0, "pt": 4 / 3, "em": 16.0, "rem": 16.0, "ex": 8.0, "ch": 8.0, "vw": 12.0, "vh": 8.0, "%": 12.0}
_COLOUR = re.compile(r"#[0-9a-f]{3,8}\b|rgba?\([^)]{1,80}\)|\b(?:transparent|white|black|red|yellow|snow|ivory)\b")
_NAMED = {
    "transparent": (0, 0, 0, 0.0),
    "white": (255, 255, 255, 1.0),
    "snow": (255, 250, 250, 1.0),
    "ivory": (255, 255, 240, 1.0),
    "black": (0, 0, 0, 1.0),
    "red": (255, 0, 0, 1.0),
    "yellow": (255, 255, 0, 1.0),
}

Style = Mapping[str, str]
#: Red, green, blue (0 to 255), opacity (0 to 1).
Colour = tuple[int, int, int, float]
WHITE: Colour = _NAMED["white"]


class Weight(NamedTuple):
    """What decides between declarations of one property (CSS Cascading, section 6): the larger wins."""

    important: bool = False
    inline: bool = False
    identifiers: int = 0
    classes: int = 0
    tags: int = 0
    order: int = 0


Weighed = dict[str, tuple[Weight, str]]


@dataclass(frozen=True)
class Rule:
    """A rule with one simple selector: a tag, classes, an identifier, or some of them together."""

    tag: str | None
    classes: frozenset[str]
    identifiers: frozenset[str]
    declared: Weighed

    def matches(self, tag: str, classes: frozenset[str], identifier: str | None) -> bool:
        """Whether it styles such an element."""
        return self.tag in (None, tag) and self.classes <= classes and self.identifiers <= {identifier}


def declarations(style: str, weight: Weight) -> Weighed:
    """The declarations of a style attribute or a rule that bear on what is seen."""
    found: Weighed = {}
    for declaration in _COMMENT.sub(" ", style[:MAX_STYLE_CHARACTERS]).split(";"):
        name, _, value = _ESCAPE.sub(_unescaped, declaration).lower().partition(":")
        value, important, _ = value.partition("!important") if "!important" in value else (value, "", "")
        if name.strip() in PROPERTIES:
            weigh(found, {name.strip(): (weight._replace(important=bool(important)), value.strip())})
    return found


def weigh(styles: Weighed, more: Weighed) -> None:
    """Adds declarations; of those of one property the weightier stays, the later of two alike."""
    for name, (weight, value) in more.items():
        if name not in styles or weight >= styles[name][0]:
            styles[name] = (weight, value)


def rules(sheet: str) -> Iterator[Rule]:
    """The rules of a style element that have a simple selector and bear on what is seen, at most MAX_RULES."""
    number = 0
    for selectors, style in _blocks(_COMMENT.sub(" ", sheet[:MAX_SHEET_CHARACTERS])):
        declared = declarations(style, Weight())
        for selector in selectors.split(",") if declared else ():
            matched = _SELECTOR.fullmatch(selector.strip())
            if not matched or not matched.group():
                continue
            parts = re.findall(r"([.#])([\w-]+)", matched["rest"])
            classes = frozenset(name for mark, name in parts if mark == ".")
            identifiers = frozenset(name for mark, name in parts if mark == "#")
            number += 1
            if number > MAX_RULES:
                return
            weight = Weight(False, False, len(identifiers), len(classes), int(matched["tag"] is not None), number)
            own = {name: (weight._replace(important=given.important), value) for name, (given, value) in declared.items()}
            yield Rule(matched["tag"], classes, identifiers, own)


def hides(style: Style) -> bool:
    """Whether an element of this style shows nothing of what is in it, whatever that declares."""
    if style.get("display") == "none" or style.get("content-visibility") == "hidden":
        return True
    return _number(style.get("opacity", "")) <= NEARLY_TRANSPARENT or _has_no_room(style) or _is_off_screen(style)


def font_size(style: Style, inherited: float) -> float:
    """The size of an element's letters in pixels."""
    for name in ("font-size", "font"):
        found = _LENGTH.search(style.get(name, "")) if "(" not in style.get(name, "") else None
        # In the short form a number without a unit is a weight, unless it is 0.
        if found and (name == "font-size" or found[2] or float(found[1]) == 0):
            number = float(found[1])
            if found[2] in {"em", "%"}:
                return inherited * number / (100 if found[2] == "%" else 1)
            return number * _PX_OF_UNIT[found[2]]
        if style.get(name, "").startswith(
            ("xx", "x-", "small", "medium", "large", "initial", "calc", "clamp", "min", "max", "var")
        ):
            return USUAL_FONT_PX
    return inherited


def colour(value: str) -> Colour | None:
    """The colour that a declaration names; None where it names none that is known."""
    found = _COLOUR.search(value)
    if not found or "url(" in value or "gradient" in value:
        return None
    text = found.group()
    if text in _NAMED:
        return _NAMED[text]
    if text.startswith("#"):
        digits = text[1:] if len(text) > 5 else "".join(digit * 2 for digit in text[1:])
        red, green, blue, alpha = (int(digits[i : i + 2] or "ff", 16) for i in (0, 2, 4, 6))
        return red, green, blue, alpha / 255
    parts = [part for part in re.split(r"[\s,/()]+", text)[1:] if part]
    channels = [_number(part) for part in [*parts, "1"][:4]]
    if len(channels) < 4 or any(channel > 255 for channel in channels):
        return None
    return int(channels[0]), int(channels[1]), int(channels[2]), channels[3]


def looks_like(one: Colour, other: Colour) -> bool:
    """Whether text of the one colour on the other cannot be read."""
    return one[3] <= NEARLY_TRANSPARENT or all(abs(a - b) <= SAME_COLOUR for a, b in zip(one[:3], other[:3], strict=True))


def pixels(value: str) -> float | None:
    """The first length of a value in pixels, relative ones of a usual screen and font; None where there is none."""
    found = _LENGTH.search(value) if "(" not in value else None
    return float(found[1]) * _PX_OF_UNIT[found[2]] if found else None


def _has_no_room(style: Style) -> bool:
    sizes = [pixels(style.get(name, "")) for name in ("width", "height", "max-width", "max-height")]
    narrow = any(size is not None and 0 <= size <= NEARLY_NOTHING_PX for size in sizes)
    cut_off = any(style.get(name, "").startswith(("hidden", "clip")) for name in ("overflow", "overflow-x", "overflow-y"))
    clip = style.get("clip", "").replace(" ", "")
    clipped = clip.startswith("rect(") and not re.search(r"[2-9]|1\d|auto", clip)
    path = style.get("clip-path", "").replace(" ", "")
    return (narrow and cut_off) or clipped or path.startswith(("inset(50%", "inset(100%", "circle(0", "polygon(00"))


def _is_off_screen(style: Style) -> bool:
    moved = ["text-indent", "margin-left", "margin-top"]
    if style.get("position") in {"absolute", "fixed", "relative", "sticky"}:
        moved += ["left", "right", "top", "bottom"]
    if any((place := pixels(style.get(name, ""))) is not None and place <= OFF_SCREEN_PX for name in moved):
        return True
    transform = style.get("transform", "").replace(" ", "")
    shifts = [float(shift) for shift in re.findall(r"translate[xy3d]*\([^)]*?(-\d{3,6})px", transform)]
    return any(shift <= OFF_SCREEN_PX for shift in shifts) or bool(re.search(r"scale[xy]?\(0?\.?0*[,)]", transform))


def _number(value: str) -> float:
    """A number or a percentage of one; infinity for anything else."""
    found = re.match(r"(\d*\.?\d+)(%?)", value)
    return float(found[1]) / (100 if found[2] else 1) if found else float("inf")


def _unescaped(escape: re.Match[str]) -> str:
    code = int(escape[1], 16) if escape[1] else 0
    return (chr(code) if 0 < code < 0x110000 else "\N{REPLACEMENT CHARACTER}") if escape[1] else escape[2]


def _blocks(sheet: str) -> Iterator[tuple[str, str]]:
    """The selectors and the declarations of rules that stand in no other rule."""
    depth = start = opened = 0
    for brace in _BRACES.finditer(sheet):
        if brace.group() == "{":
            opened = brace.end() if depth == 0 else opened
            depth += 1
        elif brace.group() == "}":
            depth = max(0, depth - 1)
            if depth == 0:
                selectors = sheet[start : opened - 1].strip()
                if not selectors.startswith("@"):
                    yield selectors, sheet[opened : brace.start()]
                start = brace.end()
        elif depth == 0:
            start = brace.end()
