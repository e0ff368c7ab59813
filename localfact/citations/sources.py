"""Says what each mark stands for, and gets its text: a source of the row, one of its passages, a page of corpus or web."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from localfact.citations.bibliography import Reference
from localfact.citations.marks import CitationMark, author_year_of, key_of
from localfact.citations.reading import LONGEST_SOURCE
from localfact.records import CitedSource, GivenSource, Response
from localfact.runtime.addresses import address_without_secrets
from localfact.text import normalise, readable, word_count
from localfact.web.searching.results import address

#: The most sources of a response that are looked up, and of those at once.
MOST_SOURCES = 200
AT_ONCE = 8
#: A title of fewer words names no source by itself, where it stands in an entry of a list of references.
TITLE_WORDS = 3
#: The most characters of a mark and a title that are kept.
LONGEST_NAME = 300
BEYOND = f"only the first {MOST_SOURCES} sources of a response are read"


class FoundPage(NamedTuple):
    """What was found at an address: text and title; else why nothing was, or neither where nobody looked there.

    `origin`: where it was looked for.
    """

    text: str | None = None
    title: str = ""
    failure: str | None = None
    origin: str | None = None


#: Looks for the page at an address, in a corpus or on the web.
LookUp = Callable[[str], Awaitable[FoundPage]]


class ReadSource(NamedTuple):
    """A source that is cited, and its text, "" where there is none."""

    cited: CitedSource
    text: str


@dataclass(frozen=True)
class _Wanted:
    """What a mark stands for: a source of the row, an entry of the text's own list, an address, or nothing known."""

    mark: str
    given: GivenSource | None = None
    reference: Reference | None = None
    link: str | None = None

    @property
    def same(self) -> tuple[str, str]:
        """Equal for what is one source."""
        if self.given is not None:
            return "given", self.given.mark
        if self.link is not None:
            return "link", comparable(self.link)
        return "mark", self.reference.keys[0] if self.reference is not None and self.reference.keys else self.mark


class Resolver:
    """Knows the sources of one response: those of its row, those of its passages, and its own list of references."""

    def __init__(self, response: Response, references: Sequence[Reference]) -> None:
        self._given = response.sources.sources if response.sources is not None else ()
        self._by_key = {key: one for one in reversed(self._given) for key in _keys_of(one)}
        self._by_link = {comparable(one.link): one for one in reversed(self._given) if one.link}
        self._passages = {
            comparable(link): passage
            for passage in reversed(response.evidence.passages if response.evidence is not None else ())
            for link in passage.links
        }
        self._references = {key: one for one in reversed(references) for key in one.keys}

    @property
    def known(self) -> frozenset[str]:
        """The keys of all sources."""
        return frozenset(self._by_key) | frozenset(self._references)

    async def read(self, marks: Iterable[CitationMark], look_up: LookUp) -> tuple[list[ReadSource], dict[str, int]]:
        """The sources that marks cite, each once, in the order of the text; and key or address of a mark -> its place there."""
        wanted: dict[tuple[str, str], _Wanted] = {}
        places: dict[str, int] = {}
        for name, one in self._find_wanted(marks):
            wanted.setdefault(one.same, one)
            places[name] = list(wanted).index(one.same)
        gate = asyncio.Semaphore(AT_ONCE)

        async def read_one(place: int, one: _Wanted) -> ReadSource:
            async with gate:
                return await self._read(f"s{place + 1}", one, look_up if place < MOST_SOURCES else _beyond)

        return list(await asyncio.gather(*(read_one(place, one) for place, one in enumerate(wanted.values())))), places

    def _find_wanted(self, marks: Iterable[CitationMark]) -> Iterator[tuple[str, _Wanted]]:
        seen: set[str] = set()
        for mark in marks:
            for name in names_of(mark):
                if name not in seen:
                    seen.add(name)
                    yield name, self._resolve_key(name) if mark.link is None else self._resolve_link(name, name)

    def _resolve_key(self, key: str) -> _Wanted:
        """What a key stands for: the entry of the text's own list says it, where its source is at hand; else the row does."""
        reference, given = self._references.get(key), self._by_key.get(key)
        if reference is None:
            return _Wanted(key, given, link=given.link if given is not None else None)
        listed = self._given_as(reference)
        if listed is None and reference.link is None and given is not None:
            listed = given
        if listed is None and reference.link is not None and given is not None and given.link is None:
            listed = given
        return _Wanted(key, listed, reference, listed.link if listed is not None and listed.link else reference.link)

    def _resolve_link(self, name: str, link: str) -> _Wanted:
        return _Wanted(name, self._by_link.get(comparable(link)), link=link)

    def _given_as(self, reference: Reference) -> GivenSource | None:
        """The source of the row that an entry names by its address, or by its whole title."""
        if reference.link is not None and comparable(reference.link) in self._by_link:
            return self._by_link[comparable(reference.link)]
        said = normalise(reference.text)
        titled = (one for one in self._given if word_count(one.title) >= TITLE_WORDS and normalise(one.title) in said)
        return next(titled, None)

    async def _read(self, name: str, one: _Wanted, look_up: LookUp) -> ReadSource:
        given, link = one.given, one.link
        title = (given.title if given is not None else "") or (one.reference.text if one.reference is not None else "")
        known = CitedSource(
            id=name,
            mark=one.mark[:LONGEST_NAME],
            state="read",
            title=title[:LONGEST_NAME],
            link=None if link is None else address_without_secrets(link),
        )
        if given is not None and given.text is not None:
            return _with_text(known, given.text, "given")
        if link is None:
            if given is None and one.reference is None:
                return _without_text(known, "no_target", "nothing says what the mark stands for")
            return _without_text(known, "not_given", "its text did not come along, and no address is named")
        passage = self._passages.get(comparable(link))
        if passage is not None:
            return _with_text(known.model_copy(update={"title": title or passage.title}), passage.text, "passages")
        found = await look_up(link)
        if found.text is not None:
            return _with_text(known.model_copy(update={"title": found.title or title}), found.text, found.origin)
        if found.failure is not None:
            return _without_text(known, "gone", found.failure)
        return _without_text(known, "not_given", "its text did not come along, and no page of that address is at hand")


def names_of(mark: CitationMark) -> tuple[str, ...]:
    """What a mark names sources by: its keys, or its address."""
    return mark.keys if mark.link is None else (mark.link,)


def comparable(link: str) -> str:
    """The form in which two addresses are compared: without scheme, "www.", fragment, secrets and final slash."""
    plain = address(f"https:{link}" if link.startswith("//") else link if "://" in link else f"https://{link}")
    return plain.partition("://")[2].removeprefix("www.").rstrip("/")


def forms_of(link: str) -> list[str]:
    """The addresses under which a page that is cited by this link may be stored, the likeliest first."""
    plain = address(link if "://" in link else f"https://{link}")
    scheme, _, rest = plain.partition("://")
    ends = (rest, rest.rstrip("/") if rest.endswith("/") else f"{rest}/")
    hosts = [form for end in ends for form in (end, end.removeprefix("www.") if end.startswith("www.") else f"www.{end}")]
    schemes = (scheme, "http" if scheme == "https" else "https")
    return list(dict.fromkeys(f"{one}://{host}" for one in schemes for host in hosts))


def _keys_of(source: GivenSource) -> Mapping[str, None]:
    """What marks may name a source of the row by: its place or name, or authors and year in its title."""
    return dict.fromkeys(filter(None, (key_of(source.mark), author_year_of(source.title))))


def _with_text(known: CitedSource, text: str, origin: str | None) -> ReadSource:
    if not text.strip():
        return _without_text(known, "gone", "it has no text")
    words = word_count(text[:LONGEST_SOURCE])
    found = {"origin": origin, "words": words, "cut": len(text) > LONGEST_SOURCE}
    return ReadSource(CitedSource.model_validate(known.model_dump() | found), readable(text[:LONGEST_SOURCE]))


def _without_text(known: CitedSource, state: str, reason: str) -> ReadSource:
    return ReadSource(CitedSource.model_validate(known.model_dump() | {"state": state, "reason": reason}), "")


async def _beyond(link: str) -> FoundPage:
    return FoundPage(failure=BEYOND)


async def look_nowhere(link: str) -> FoundPage:
    """Looks for pages where there is neither corpus nor web."""
    return FoundPage()
