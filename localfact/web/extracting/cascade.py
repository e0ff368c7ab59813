"""Which rules of a page's own style sheets hold for an element: cssselect2 matches, this bounds what it is given and does.

Followed are selectors that name tags, classes and identifiers, of an element and of what it stands in; not attributes, states
and siblings. So what holds for an element depends on those names alone, and is found once for all that have the same.
"""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from cssselect2 import ElementWrapper, Matcher, SelectorError, compile_selector_list

from localfact.web.extracting.styles import Weighed, rules, weigh
from localfact.web.fetching.failures import PageError, Reason

NAMES = frozenset({"ident", "hash"})
MAX_SELECTORS = 5_000
MAX_SELECTOR_TOKENS = 30
#: How often a selector may be held against an element, or an ancestor looked at: some seconds. Large pages take a hundredth.
MOST_LOOKS = 3_000_000


class Looks:
    """Counts what matching takes.

    Attributes:
        left: how many more it may take.
    """

    left = MOST_LOOKS

    def take(self, count: int) -> None:
        """Takes some more.

        Raises:
            PageError: UNREADABLE: more than any page needs.
        """
        self.left -= count
        if self.left < 0:
            raise PageError(Reason.UNREADABLE, "its style rules take too long")


class Place(ElementWrapper):  # type: ignore[misc]  # the library has no types
    """Where all elements stand whose own names, and those of what they stand in, are the same.

    Attributes:
        declared: what the rules declare about them.
    """

    #: No selector asks for siblings.
    etree_children = ()

    def __init__(self, element: Any, around: "Place | None", looks: Looks) -> None:
        """Takes the first of the elements."""
        super().__init__(element, around, index=0, previous=None, in_html_document=True)
        self.declared: Weighed = {}
        self._looks = looks

    @property
    def ancestors(self) -> "Iterator[Place]":
        """From the parent up. The library's own is recursive, and hostile pages are thousands of elements deep."""
        place = self.parent
        while place is not None:
            self._looks.take(1)
            yield place
            place = place.parent


class Rules(Matcher):  # type: ignore[misc]
    """The rules of a page."""

    def __init__(self, sheets: Iterable[str]) -> None:
        """Reads style sheets."""
        super().__init__()
        self._names: set[str] = set()
        self._places: dict[Any, Place] = {}
        self._looks = Looks()
        for selector, declared in rules(sheets):
            if self.order == MAX_SELECTORS:
                break
            if len(selector) <= MAX_SELECTOR_TOKENS and all(is_followed(token) for token in selector):
                with contextlib.suppress(SelectorError):
                    self.add_selector(*compile_selector_list(selector), declared)
                    self._names.update(token.value for token in selector if token.type in NAMES)

    def place(self, element: Any, around: Place | None) -> Place:
        """Where an element stands whose parent stands in `around`.

        Raises:
            PageError: see `Looks.take`.
        """
        identifier = element.get("id")
        classes = frozenset(self._names.intersection(element.get("class", "").split()))
        key = (around, element.tag, classes, identifier if identifier in self._names else None)
        if key not in self._places:
            place = self._places[key] = Place(element, around, self._looks)
            for *_, declared in self.match(place):
                weigh(place.declared, declared)
        return self._places[key]

    def add_relevant_selectors(self, element: Place, selectors: Sequence[Any], relevant: list[Any]) -> None:
        """What the library does with the selectors that may match an element."""
        self._looks.take(len(selectors))
        super().add_relevant_selectors(element, selectors, relevant)


def is_followed(token: Any) -> bool:
    """Whether a selector may hold the token. The library makes Python code of selectors: nothing else comes into it."""
    return token.type in NAMES or token.type in {"whitespace", "comment"} or token in (".", "*", ">")
