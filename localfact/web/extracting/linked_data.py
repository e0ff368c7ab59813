"""The article that a page states for machines (schema.org's articleBody in JSON-LD), for pages whose text only scripts show."""

import json
from html import unescape
from typing import Any

from localfact.web.extracting.cleaning import clean

#: A page that shows more than this is read as it is shown.
MOST_SHOWN_CHARACTERS = 600
#: Nodes of one page's data that are looked at.
MOST_NODES = 20_000


def stated_article(root: Any) -> str:
    """The longest articleBody in a tree's linked data, as text; "" where there is none. To be read before `remove_data`."""
    found = [
        body for script in root.iter("script") if "ld+json" in script.get("type", "").lower() for body in _bodies(script.text)
    ]
    return max((_without_markup(body) for body in found), key=len, default="")


def shown_or_stated(shown: str, stated: str) -> str:
    """What a page shows; what it states where that is an article, and it shows next to nothing."""
    hardly_any = len(shown) <= MOST_SHOWN_CHARACTERS and len(stated) > len(shown)
    return stated if hardly_any else shown


def _bodies(data: str | None) -> list[str]:
    try:
        left = [json.loads(data or "", strict=False)]
    except (ValueError, RecursionError):
        return []
    bodies: list[str] = []
    for _ in range(MOST_NODES):
        if not left:
            break
        node = left.pop()
        if isinstance(node, dict):
            body = node.get("articleBody")
            bodies += [body] if isinstance(body, str) else []
            left += node.values()
        elif isinstance(node, list):
            left += node
    return bodies


def _without_markup(body: str) -> str:
    from lxml import etree
    from lxml.html import fragment_fromstring

    text = unescape(body)
    if "</" not in text:
        return clean(text)
    try:
        root = fragment_fromstring(text, create_parent="div")
    except (etree.ParserError, ValueError):
        return clean(text)
    for block in root.iter("p", "br", "li", "div", "h2", "h3"):
        block.tail = "\n" + (block.tail or "")
    return clean(root.text_content())
