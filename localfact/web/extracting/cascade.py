"""What a page's style elements and style attributes declare about an element: tinycss2 parses, this matches selectors.

Supported are selectors by tag, class and id, of an element and of those around it; not attributes, states and siblings, rules
in @media and the like, or linked style sheets.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from typing import Any, NamedTuple

from tinycss2 import parse_blocks_contents, parse_one_component_value, parse_stylesheet

from localfact.web.extracting.styles import PROPERTIES, Style, Token, Value, tokens
from localfact.web.fetching.failures import PageError, Reason

MAX_SHEET_CHARACTERS = 500_000
MAX_STYLE_CHARACTERS = 5_000
MAX_SELECTORS = 5_000
MAX_SELECTOR_TOKENS = 30
#: The most steps of matching selectors and comparing declarations: about a second. Large pages take a hundredth.
MOST_LOOKS = 1_000_000

#: Of an element, or asked for by a part of a selector: "<tag", ".class", "#identifier", "**" (every element's); for the part
#: before, with all that this asks for, (True, part) where the parent has that, (False, part) where anything around has.
Names = frozenset[Any]
Part = tuple[bool, Names]
#: The selectors that are followed, by a letter for each token.
_LETTERS = {"ident": "<", "hash": "#", "whitespace": " ", ".": ".", "*": "*", ">": ">"}
_PART = r"(?=[<*.#])[<*]?(?:\.<|#)*"
_SELECTOR = re.compile(rf" *{_PART}(?: *[ >] *{_PART})* *")
_NAME = re.compile(r"\.?<|#|\*")


class Declaration(NamedTuple):
    """A property's value, after the fields that decide between several declarations (CSS 2.2, section 6.4): the larger wins."""

    important: bool
    specificity: tuple[int, ...]
    order: int
    name: str
    value: Value


class Rules:
    """The rules of the style elements in a tree.

    Attributes:
        uncertain: whether something that is not supported here may set backgrounds.
    """

    def __init__(self, root: Any) -> None:
        self._parts: dict[str, dict[Names, list[Declaration]]] = defaultdict(dict)
        self._asked: set[Any] = set()
        self._known: dict[tuple[Names, Names], tuple[list[Declaration], Names]] = {}
        self._inner: dict[Names, Names] = {}
        self._looks = 0
        texts = [sheet.text or "" for sheet in root.iter("style") if sheet.get("media", "all").lower() in {"all", "screen", ""}]
        for order, (parts, specificity, declared) in enumerate(islice(rules(texts), MAX_SELECTORS)):
            part = Names()
            for is_child, names in parts:
                part = names | {(is_child, part)} if part else names
                own = self._parts[min(names)].setdefault(part, [])
                self._asked |= part
            own += [declaration._replace(specificity=specificity, order=order) for declaration in declared]
        linked = any("stylesheet" in link.get("rel", "").lower() for link in root.iter("link"))
        self.uncertain = linked or any("background" in text for text in texts)

    def style(self, element: Any, around: Names) -> tuple[Style, Names]:
        """The style of an element, property -> value, and what its children are to be given as `around`.

        Raises:
            PageError: UNREADABLE: matching takes more than MOST_LOOKS steps.
        """
        attributes = element.attrib
        classes = (f".{name}" for name in attributes.get("class", "").split())
        names = Names({"**", f"<{element.tag}", f"#{attributes.get('id', '')}", *classes} & self._asked)
        declared, inner = self._known.get((names, around)) or self._meet(names, around)
        if "style" in attributes or "color" in attributes or "bgcolor" in attributes:
            hints = [
                Declaration(False, (), 0, name, [parse_one_component_value(attributes[given][:MAX_STYLE_CHARACTERS])])
                for given, name in (("color", "color"), ("bgcolor", "background-color"))
                if attributes.get(given)
            ]
            own = declarations(attributes.get("style", "")[:MAX_STYLE_CHARACTERS])
            declared = cascaded([*hints, *declared, *own])
        return {declaration.name: declaration.value for declaration in declared}, inner

    def _meet(self, names: Names, around: Names) -> tuple[list[Declaration], Names]:
        held = [item for name in names if name in self._parts for item in self._parts[name].items()]
        has = names | around
        met = {part: declared for part, declared in held if part <= has}
        declared = [declaration for of_part in met.values() for declaration in of_part]
        inner = Names({(is_child, part) for part in met for is_child in (True, False)} & self._asked)
        inner |= {(is_child, part) for is_child, part in around if not is_child}
        self._looks += len(held) + len(declared) + len(has) + len(inner)
        if self._looks > MOST_LOOKS:
            raise PageError(Reason.UNREADABLE, "its style rules take too long")
        # Equal sets are made one: with each element they are compared.
        self._known[names, around] = cascaded(declared), self._inner.setdefault(inner, inner)
        return self._known[names, around]


def rules(sheets: Iterable[str]) -> Iterator[tuple[list[Part], tuple[int, ...], list[Declaration]]]:
    """The parts of each supported selector in the style sheets, its specificity, and what its rule declares."""
    left = MAX_SHEET_CHARACTERS
    for sheet in sheets:
        for rule in parse_stylesheet(sheet[:left]):
            if rule.type == "qualified-rule" and (declared := declarations(rule.content)):
                for _, selector in groupby(rule.prelude, lambda token: token == ","):
                    if read := read_selector(selector):
                        yield *read, declared
        left = max(0, left - len(sheet))


def read_selector(selector: Iterable[Token]) -> tuple[list[Part], tuple[int, ...]] | None:
    """The names that each part of a selector asks for, and its specificity; None where it is not supported."""
    read = [token for token in selector if token.type != "comment"]
    shape = "".join(_LETTERS.get(token.value if token.type == "literal" else token.type, "?") for token in read)
    # Browsers ignore #1a and the like.
    valid = all(token.is_identifier for token in read if token.type == "hash")
    if not valid or len(read) > MAX_SELECTOR_TOKENS or not _SELECTOR.fullmatch(shape):
        return None
    parts = []
    for part in re.finditer("([ >]*)([^ >]+)", shape):
        marked = [(found[0], read[found.end() - 1]) for found in _NAME.finditer(shape, *part.span(2))]
        names = Names(mark[0] + (token.lower_value if mark == "<" else token.value) for mark, token in marked)
        parts.append((">" in part[1], names))
    classes = shape.count(".")
    return parts, (0, shape.count("#"), classes, shape.count("<") - classes)


def declarations(style: str | Value) -> list[Declaration]:
    """The declarations of a style attribute or a rule that affect visibility, with the weight of an attribute's."""
    return [
        Declaration(part.important, (1, 0, 0, 0), 0, part.lower_name, tokens(part.value))
        for part in parse_blocks_contents(style)
        if part.type == "declaration" and part.lower_name in PROPERTIES
    ]


def cascaded(declared: Iterable[Declaration]) -> list[Declaration]:
    """The one declaration of each property that applies; of equal ones the last."""
    return list({declaration.name: declaration for declaration in sorted(declared, key=lambda each: each[:3])}.values())
