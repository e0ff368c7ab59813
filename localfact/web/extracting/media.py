"""Whether the rules of a media query apply to a page that is read on a usual screen (Media Queries, level 4)."""

import re

#: A usual screen, in pixels.
WIDTH, HEIGHT = 1280, 800
_PX = {"px": 1.0, "em": 16.0, "rem": 16.0}
_TYPE = re.compile(r"(?:(?P<sign>not|only) )?(?P<type>[a-z-]+)")
_SIZE = re.compile(
    r"(?P<which>min|max)-(?:device-)?(?P<side>width|height)\s*:\s*(?P<size>\d{1,6}(?:\.\d{1,6})?)\s*(?P<unit>px|r?em)"
)
#: What else is so on a usual screen.
_USUAL = frozenset(
    (
        *("orientation: landscape", "hover", "hover: hover", "pointer: fine", "color", "scripting: enabled"),
        *("prefers-color-scheme: light", "prefers-reduced-motion: no-preference"),
    )
)
#: A longer query is not read.
LONGEST = 1_000


def applies(queries: str) -> bool:
    """Whether one of the queries, which stand between commas, is met; none at all is met everywhere.

    A condition that is not known here is not met.
    """
    read = " ".join(queries.lower().split())
    return not read or (len(read) <= LONGEST and any(_is_met(query.strip()) for query in read.split(",")))


def _is_met(query: str) -> bool:
    conditions = [part.strip() for part in re.split(r"\band\b", query)]
    met, negated = True, False
    for place, condition in enumerate(conditions):
        named = _TYPE.fullmatch(condition) if place == 0 else None
        if named:
            met, negated = named["type"] in ("all", "screen"), named["sign"] == "not"
        else:
            met = met and condition.startswith("(") and _holds(condition.strip("() "))
    return met != negated


def _holds(condition: str) -> bool:
    size = _SIZE.fullmatch(condition)
    if size is None:
        return re.sub(" ?: ?", ": ", condition) in _USUAL
    screen, wanted = WIDTH if size["side"] == "width" else HEIGHT, float(size["size"]) * _PX[size["unit"]]
    return screen >= wanted if size["which"] == "min" else screen <= wanted
