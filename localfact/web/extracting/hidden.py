"""Takes out of a page's tree what its reader would not see, before anything takes text from it.

Text set for machines alone is how a page gives orders to a model. What linked style sheets or scripts hide is not known here.
"""

from typing import Any, NamedTuple

from localfact.web.extracting.styles import (
    MAX_STYLE_CHARACTERS,
    NEARLY_NOTHING_PX,
    USUAL_FONT_PX,
    WHITE,
    Colour,
    Style,
    Weighed,
    Weight,
    colour,
    declarations,
    font_size,
    hides,
    looks_like,
    weigh,
    words,
)

#: Elements whose content is no text of the page: code, graphics, other documents, what stands in for them.
NEVER_SHOWN = (
    *("style", "noscript", "template", "iframe", "object", "embed", "applet", "svg", "canvas", "audio", "video", "noframes"),
    *("noembed", "datalist"),
)
#: Scripts hide these until the page has started, and show them then.
ALWAYS_SHOWN = frozenset({"html", "body"})
#: A page behind an open dialogue is hidden from screen readers whole; smaller things hidden from them alone are decoration,
#: repetition or closed dialogues.
WHOLE_PAGE_SHARE = 0.5

_HIDDEN = "hidden-text"

#: An lxml element: the library has no types.
Element = Any


class Ink(NamedTuple):
    """How text looks in some place; colours are None where they are not known."""

    text: Colour | None = None
    behind: Colour | None = None
    font_px: float = USUAL_FONT_PX
    visible: bool = True

    @property
    def is_seen(self) -> bool:
        """Whether it can be read."""
        if not self.visible or self.font_px <= NEARLY_NOTHING_PX:
            return False
        if self.text is None:
            return True
        return self.text[3] > 0 if self.behind is None else not looks_like(self.text, self.behind)


def remove_hidden(root: Element) -> None:
    """Removes elements that show nothing, with all that is in them; the text behind them stays.

    Hidden are: what is no text (NEVER_SHOWN; scripts but for linked data, which `remove_data` takes); the attributes `hidden`,
    `popover`, `aria-hidden`, type=hidden, closed dialogues; and by style attributes and rules of the page's own style elements:
    what is not displayed, invisible, transparent, of no size, off the screen or of the colour behind it.

    Raises:
        PageError: see `Rules.place`. ValueError: a number of thousands of digits in a style.
    """
    from lxml import etree

    sheets = Sheets(root)
    whole = length(root)
    inks = [Ink(behind=None if sheets.uncertain else WHITE)]
    place: Any = None
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        if event == "start":
            place = sheets.rules.place(element, place)
            style = style_of(element, place.declared)
            inks.append(sheets.ink(element, style, inks[-1]))
            if not inks[-1].is_seen:
                element.text = None
            if element.tag not in ALWAYS_SHOWN and (hides(style) or by_attribute(element, whole)):
                element.tag = _HIDDEN
                walk.skip_subtree()
        else:
            inks.pop()
            place = place.parent
            if not inks[-1].is_seen:
                element.tail = None
    etree.strip_elements(root, _HIDDEN, *NEVER_SHOWN, with_tail=False)


def remove_data(root: Element) -> None:
    """Removes linked data and content in attributes, which may hold whole texts that nobody sees."""
    from lxml import etree

    etree.strip_elements(root, "script", with_tail=False)
    for element in root.iterfind(".//*[@data-preloaded]"):
        del element.attrib["data-preloaded"]


def by_attribute(element: Element, whole: int) -> bool:
    """Whether the markup itself hides an element of a page that has so many characters as a whole."""
    attributes = element.attrib
    if element.tag == "script":
        return "ld+json" not in attributes.get("type", "").lower()
    if element.tag == "dialog" and "open" not in attributes:
        return True
    if not attributes:
        return False
    if attributes.get("hidden", "until-found").lower() != "until-found" or "popover" in attributes:
        return True
    if element.tag == "input" and attributes.get("type", "").lower() == "hidden":
        return True
    return attributes.get("aria-hidden", "").lower() == "true" and length(element) < WHOLE_PAGE_SHARE * whole


def length(element: Element) -> int:
    """Characters of the text in an element."""
    return sum(len(text) for text in element.itertext())


class Sheets:
    """What the page's own style elements declare about its elements.

    Attributes:
        rules: those that are followed.
        uncertain: whether something that is not followed here may set backgrounds.
    """

    def __init__(self, root: Element) -> None:
        """Reads the style elements of a tree."""
        from localfact.web.extracting.cascade import Rules

        texts = [sheet.text or "" for sheet in root.iter("style") if sheet.get("media", "all").lower() in {"all", "screen", ""}]
        self.rules = Rules(texts)
        linked = any("stylesheet" in link.get("rel", "").lower() for link in root.iter("link"))
        self.uncertain = linked or any("background" in text for text in texts)

    def ink(self, element: Element, style: Style, inherited: Ink) -> Ink:
        """How the element's own text looks."""
        if not style and not self.uncertain:
            return inherited
        text, behind = inherited.text, inherited.behind
        if own := style.get("-webkit-text-fill-color") or style.get("color"):
            text = colour(own)
        if self.uncertain and ("class" in element.attrib or "id" in element.attrib):
            behind = None
        for name in ("background", "background-color"):
            if name in style and ((found := colour(style[name])) is None or found[3] > 0):
                behind = found
        visibility = words(style, "visibility")
        visible = inherited.visible if visibility in ([], ["inherit"]) else visibility not in (["hidden"], ["collapse"])
        always = element.tag in ALWAYS_SHOWN
        return Ink(text, behind, font_size(style, inherited.font_px), visible or always)


def style_of(element: Element, declared: Weighed) -> Style:
    """What holds for an element about which the page's rules declare something: property -> value."""
    attributes = element.attrib
    if "style" in attributes or "color" in attributes or "bgcolor" in attributes:
        declared = attributes_as_style(attributes) | declared
        weigh(declared, declarations(attributes.get("style", ""), inline=True))
    return {name: value for name, (_, value) in declared.items()}


def attributes_as_style(attributes: Any) -> Weighed:
    """The colours that older markup gives in attributes of their own."""
    from tinycss2 import parse_one_component_value

    return {
        name: (Weight(), [parse_one_component_value(attributes[given][:MAX_STYLE_CHARACTERS])])
        for name, given in (("color", "color"), ("background-color", "bgcolor"))
        if attributes.get(given)
    }
