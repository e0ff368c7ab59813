"""Takes out of a page's tree what its reader would not see, before anything takes text from it.

Text set for machines alone is how a page gives orders to a model. What linked style sheets or scripts hide is not known here.
"""

from typing import Any

from localfact.web.extracting.styles import WHITE, Ink, hides

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


def remove_hidden(root: Element) -> None:
    """Removes elements that show nothing, with all that is in them; the text behind them stays.

    Hidden are: what is no text (NEVER_SHOWN; scripts but for linked data, which `remove_data` takes); the attributes `hidden`,
    `popover`, `aria-hidden`, type=hidden, closed dialogues; and by style attributes and rules of the page's own style elements:
    what is not displayed, invisible, transparent, of no size, off the screen or of the colour behind it.

    Raises:
        PageError: see `Rules.style`. ValueError: a number of thousands of digits in a style.
    """
    from lxml import etree

    from localfact.web.extracting.cascade import Names, Rules

    rules = Rules(root)
    whole = length(root)
    around = [(Names(), Ink(behind=None if rules.uncertain else WHITE))]
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        if event == "start":
            names, ink = around[-1]
            style, inner = rules.style(element, names)
            if rules.uncertain and ("class" in element.attrib or "id" in element.attrib):
                ink = ink._replace(behind=None)
            ink = ink.styled(style) if style else ink
            always = element.tag in ALWAYS_SHOWN
            ink = ink._replace(visible=True) if always else ink
            around.append((inner, ink))
            if not ink.is_seen:
                element.text = None
            if not always and (hides(style) or by_attribute(element, whole)):
                element.tag = _HIDDEN
                walk.skip_subtree()
        else:
            around.pop()
            if not around[-1][1].is_seen:
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
