"""What a page's style elements and style attributes declare about an element: tinycss2 parses, this matches selectors.

Selectors by tag, class and id, of an element and of those around it, are most of all, and are matched here while a page is
walked through. Others (by attribute, `:not`, siblings) are cssselect's. Not supported are states and linked style sheets.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from typing import Any, NamedTuple

from cssselect import HTMLTranslator, SelectorError, parse
from tinycss2 import parse_blocks_contents, parse_one_component_value, parse_rule_list, parse_stylesheet, serialize

from localfact.web.extracting.media import applies
from localfact.web.extracting.styles import PROPERTIES, Style, Token, Value, tokens
from localfact.web.fetching.failures import PageError, Reason

MAX_SHEET_CHARACTERS = 500_000
MAX_STYLE_CHARACTERS = 5_000
MAX_SELECTORS = 5_000
MAX_SELECTOR_TOKENS = 30
#: What cssselect looks at, at most: for a selector of one part each element, else all that are around and beside each, too.
#: Some seconds. Selectors after that are not followed.
MOST_MATCHED = 5_000_000
#: States and parts of elements, which no element has when a page is read. `:root` and the like are none.
_NEVER = re.compile(
    r"::|:(?:before|after|first-l\w+|hover|focus[\w-]*|active|visited|target[\w-]*|checked|disabled|-\w+)(?![\w-])"
)
#: A selector of several parts; one in parentheses or brackets that looks like it is taken for it.
_COMBINED = re.compile(r"[\s>+~]")
#: Rules in rules, as @media within @supports.
DEEPEST_RULES = 5
#: The most steps of matching selectors and comparing declarations: about a second. Large pages take a hundredth.
MOST_LOOKS = 1_000_000

#: What an element has, or one part of a selector asks for: "<tag", ".class", "#identifier", and "**", which every element has.
#: (True, part) stands for a parent that meets the parts of the selector before this one, (False, part) for any such ancestor.
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


class Rule(NamedTuple):
    """A selector, as tokens, and the declarations for the elements that it matches."""

    selector: Value
    declared: list[Declaration]


class StyleRules:
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
        self._matched: dict[Any, list[Declaration]] = defaultdict(list)
        sheets = [sheet for sheet in root.iter("style") if applies(sheet.get("media", ""))]
        texts = [sheet.text or "" for sheet in sheets]
        others: list[Rule] = []
        for order, rule in enumerate(islice(rules(texts), MAX_SELECTORS)):
            placed = rule._replace(declared=[declaration._replace(order=order) for declaration in rule.declared])
            if (read := read_selector(rule.selector)) is None:
                others.append(placed)
                continue
            parts, specificity = read
            part = Names()
            for is_child, names in parts:
                part = names | {(is_child, part)} if part else names
                own = self._parts[min(names)].setdefault(part, [])
                self._asked |= part
            own += [declaration._replace(specificity=specificity) for declaration in placed.declared]
        self._match(root, others)
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
        if element in self._matched:
            declared = cascade([*declared, *self._matched[element]])
        if "style" in attributes or "color" in attributes or "bgcolor" in attributes:
            hints = [
                Declaration(False, (), 0, name, [parse_one_component_value(attributes[given][:MAX_STYLE_CHARACTERS])])
                for given, name in (("color", "color"), ("bgcolor", "background-color"))
                if attributes.get(given)
            ]
            own = declarations(attributes.get("style", "")[:MAX_STYLE_CHARACTERS])
            declared = cascade([*hints, *declared, *own])
        return {declaration.name: declaration.value for declaration in declared}, inner

    def _match(self, root: Any, others: Iterable[Rule]) -> None:
        """Finds the elements of the selectors that are cssselect's."""
        elements, related = sizes(root)
        left = MOST_MATCHED
        for selector, declared in others:
            text = serialize(selector).strip()
            cost = related if _COMBINED.search(text) else elements
            if len(selector) > MAX_SELECTOR_TOKENS or not are_names(selector) or _NEVER.search(text) or cost > left:
                continue
            left -= cost
            try:
                read = parse(text)
                paths = [HTMLTranslator().selector_to_xpath(one) for one in read]
            except (SelectorError, RecursionError):
                continue
            for one, path in zip(read, paths, strict=True):
                weighed = [declaration._replace(specificity=(0, *one.specificity())) for declaration in declared]
                for element in root.xpath(path):
                    self._matched[element] += weighed

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
        self._known[names, around] = cascade(declared), self._inner.setdefault(inner, inner)
        return self._known[names, around]


def rules(sheets: Iterable[str]) -> Iterator[Rule]:
    """The rules of the style sheets that apply to a page on a usual screen, one for each selector."""
    left = MAX_SHEET_CHARACTERS
    for sheet in sheets:
        yield from _apply_rules(parse_stylesheet(sheet[:left]))
        left = max(0, left - len(sheet))


def _apply_rules(parsed: Iterable[Token], depth: int = 0) -> Iterator[Rule]:
    for rule in parsed:
        if rule.type == "qualified-rule" and (declared := declarations(rule.content)):
            for comma, selector in groupby(rule.prelude, lambda token: token == ","):
                if not comma:
                    yield Rule(list(selector), declared)
        elif rule.type == "at-rule" and rule.content is not None and depth < DEEPEST_RULES:
            shown = rule.lower_at_keyword == "media" and applies(serialize(rule.prelude))
            if shown or rule.lower_at_keyword in ("supports", "layer", "container"):
                yield from _apply_rules(parse_rule_list(rule.content), depth + 1)


def read_selector(selector: Iterable[Token]) -> tuple[list[Part], tuple[int, ...]] | None:
    """The names that each part of a selector asks for, and its specificity; None where it is not supported."""
    read = [token for token in selector if token.type != "comment"]
    shape = "".join(_LETTERS.get(token.value if token.type == "literal" else token.type, "?") for token in read)
    if not are_names(read) or len(read) > MAX_SELECTOR_TOKENS or not _SELECTOR.fullmatch(shape):
        return None
    parts = []
    for part in re.finditer("([ >]*)([^ >]+)", shape):
        marked = [(found[0], read[found.end() - 1]) for found in _NAME.finditer(shape, *part.span(2))]
        names = Names(mark[0] + (token.lower_value if mark == "<" else token.value) for mark, token in marked)
        parts.append((">" in part[1], names))
    classes = shape.count(".")
    return parts, (0, shape.count("#"), classes, shape.count("<") - classes)


def sizes(root: Any) -> tuple[int, int]:
    """How many elements a page has, and how many pairs of one and another that is around or beside it."""
    elements = related = 0
    open_ones = [(root, 0)]
    while open_ones:
        element, depth = open_ones.pop()
        elements, related = elements + 1, related + depth + len(element) ** 2
        open_ones += [(child, depth + 1) for child in element]
    return elements, related


def are_names(selector: Iterable[Token]) -> bool:
    """Whether what stands behind each # is a name: browsers ignore #1a and the like."""
    return all(token.is_identifier for token in selector if token.type == "hash")


def declarations(style: str | Value) -> list[Declaration]:
    """The declarations of a style attribute or a rule that affect visibility, with the weight of an attribute's."""
    return [
        Declaration(part.important, (1, 0, 0, 0), 0, part.lower_name, tokens(part.value))
        for part in parse_blocks_contents(style)
        if part.type == "declaration" and part.lower_name in PROPERTIES
    ]


def cascade(declared: Iterable[Declaration]) -> list[Declaration]:
    """The one declaration of each property that applies; of equal ones the last."""
    return list({declaration.name: declaration for declaration in sorted(declared, key=lambda each: each[:3])}.values())
