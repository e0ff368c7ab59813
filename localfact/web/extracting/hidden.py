"""Removes from a page's tree what its reader would not see, before text is taken from it.

Hidden text is how a page can give orders to a model. What linked style sheets or scripts hide is not known here.
"""

from typing import Any

from localfact.web.extracting.styles import WHITE, Ink, hides

#: Elements whose content is no text of the page: code, graphics, other documents, fallbacks for them.
NEVER_SHOWN = (
    *("style", "noscript", "template", "iframe", "object", "embed", "applet", "svg", "canvas", "audio", "video", "noframes"),
    *("noembed", "datalist"),
)
#: Scripts hide these until the page has started, and show them then.
ALWAYS_SHOWN = frozenset({"html", "body"})
#: aria-hidden on an element with more than this share of the page's text is ignored: behind an open dialogue all of a page has
#: it. Smaller elements with it are decoration, repetition or closed dialogues.
WHOLE_PAGE_SHARE = 0.5

_HIDDEN = "hidden-text"

#: An lxml element: the library has no types.
Element = Any


def remove_hidden(root: Element) -> None:
    """Removes the elements that a reader would not see, with their content, from the tree; the text after them stays.

    Removed are:
        - elements that hold no text of the page: NEVER_SHOWN, and scripts (except linked data, which `remove_data` removes);
        - elements with the attributes `hidden`, `popover`, `aria-hidden` or type=hidden, and closed dialogues;
        - elements that style attributes or the page's own style elements leave undisplayed, invisible, transparent, without
          size, off the screen, or in the colour of their background.

    Raises:
        PageError: the page's style rules take too many steps to match.
        ValueError: a style holds a number of thousands of digits.
    """
    from lxml import etree

    from localfact.web.extracting.cascade import Names, StyleRules

    rules = StyleRules(root)
    whole = length(root)
    around = [(Names(), Ink(behind=None if rules.uncertain else WHITE))]
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        if event == "start":
            names, ink = around[-1]
            style, inner = rules.style(element, names)
            if rules.uncertain and ("class" in element.attrib or "id" in element.attrib):
                ink = ink._replace(behind=None)
            ink = ink.style_child(style) if style else ink
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
    """Removes linked data and texts in attributes, which may hold whole texts that are not displayed."""
    from lxml import etree

    etree.strip_elements(root, "script", with_tail=False)
    for element in root.iterfind(".//*[@data-preloaded]"):
        del element.attrib["data-preloaded"]


def by_attribute(element: Element, whole: int) -> bool:
    """Whether the markup itself hides an element; `whole` is the number of characters of the page."""
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
    """Number of characters of the text in an element."""
    return sum(len(text) for text in element.itertext())
