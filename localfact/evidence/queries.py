"""The search queries of a claim: its own words, or what a language model writes (FactReasoner, section 3.3, Retriever).

A second query without a model is the claim's key words. A written query is stripped of operators that a search engine would
interpret. Where the model wrote none that can be used, the claim is the query, and a note in the evidence says so.
"""

import re
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import NamedTuple, Protocol

from localfact.errors import InputError, PromptTooLongError, RequestError
from localfact.llm.engine import Engine, Generation
from localfact.prompts import boundary_of, query_chat
from localfact.prompts.grammars import query_grammar
from localfact.records import Claim, Response
from localfact.runtime.tasks import together
from localfact.text import normalise, normalised_words, readable, words
from localfact.thoughts import without_thoughts
from localfact.web.invisible import remove_invisible
from localfact.web.searching.operators import without_conjunctions, without_fields

#: The stage that calls are counted under.
QUERY = "query"
#: Longer lines of an answer are no query.
LONGEST_QUERY = 300
#: The most queries a claim without a language model, and with one (its examples show so many).
MOST_BY_RULE = 2
MOST_WRITTEN = 3

WRITTEN_QUERIES = "Evidence: the language model wrote the search queries (--queries llm)."
CLAIMS_INSTEAD = (
    "Evidence: some claims were searched by their own words, as the language model wrote no query for them that can be used."
)

#: Within a line it is no thought that could be taken off; a query has no place for it either.
_THOUGHT_MARK = "<think>"
_HEADED = re.compile(
    r"\s*(?:[-*•]\s+|\d{1,2}[.)]\s+)?(?:(?:\*\*)?(?:search )?query(?: \d)?(?:\*\*)?:(?:\*\*)?)?", re.IGNORECASE
)
_SIGNS = re.compile(r"[\ufffd\"“”„«»＂`!！|*~^\\(){}\[\]（）<>]|\.\.+")
_LEADING = re.compile(r"(?<!\S)[-+@/#－−–—‐‑＋]+")
_WORD = re.compile(r"[^\W_]")
# English words that help no search; in another language the key words are all words.
_NO_KEY_WORD = re.compile(
    r"(?i:a|about|after|also|although|an|and|are|as|at|be|because|been|before|being|but|by|can|could|"
    r"did|do|does|during|for|from|had|has|have|he|her|hers|him|his|how|i|if|in|into|is|it|its|"
    r"itself|many|may|might|more|most|no|nor|not|of|on|one|or|other|over|she|should|since|so|some|"
    r"such|than|that|the|their|them|then|there|these|they|this|those|through|to|under|until|very|was|"
    r"we|were|what|when|where|which|while|who|whom|whose|why|will|with|would|you)"
)


class Written(NamedTuple):
    """Different search queries of a claim; `failed` where a model should have written them and the claim is used instead."""

    queries: tuple[str, ...]
    failed: bool = False


class QueryWriter(Protocol):
    """Writes the search queries of a claim."""

    async def write(self, claim: Claim, response: Response) -> Written:
        """Returns the queries for a claim of the response."""
        ...


class ClaimQueries:
    """The claim is the query, word for word: the default. The second query, if one is wanted, is its key words.

    Raises:
        InputError: more than two queries a claim.
    """

    def __init__(self, count: int = 1) -> None:
        if count > MOST_BY_RULE:
            raise InputError(
                f"Without a language model a claim has {MOST_BY_RULE} queries at most, not {count}: give --queries llm and "
                "--model."
            )
        self._count = count

    async def write(self, claim: Claim, response: Response) -> Written:
        """Returns the claim's own text first."""
        queries = (claim.text, key_words(claim.text, response.topic))[: self._count]
        return Written(tuple(dict.fromkeys(query for query in queries if query)))


@dataclass(frozen=True)
class LLMQueries:
    """Has a language model write the queries of each claim, all in one answer.

    Attributes:
        engine: the language model.
        count: how many queries a claim.
        max_tokens: the most tokens of an answer, from 1.
        seed: of the boundary's markers and of the sampling.

    Raises:
        InputError: max_tokens below 1, more queries than the prompt shows.
    """

    engine: Engine
    _: KW_ONLY
    count: int = 1
    max_tokens: int = 64
    seed: int = 0

    def __post_init__(self) -> None:
        if self.max_tokens < 1:
            raise InputError(f"An answer of {self.max_tokens} tokens holds no query: give a whole number from 1.")
        if not 1 <= self.count <= MOST_WRITTEN:
            raise InputError(f"A language model writes 1 to {MOST_WRITTEN} queries a claim, not {self.count}.")

    async def write(self, claim: Claim, response: Response) -> Written:
        """Returns the model's queries as plain words, or the claim itself where the answer holds none for it.

        Raises:
            LocalFactError: one that concerns all claims: a dead engine, something missing.
        """
        chat = query_chat(response.prompt, response.topic, claim.text, self.count, boundary=boundary_of(self.engine, self.seed))
        try:
            generation = await self.engine.generate(
                chat,
                max_tokens=self.max_tokens * self.count,
                grammar=query_grammar(self.count),
                seed=self.seed,
                stage=QUERY,
            )
        except (PromptTooLongError, RequestError):
            return Written((claim.text,), failed=True)
        found = queries_about(claim.text, generation, self.count)
        return Written(tuple(found) or (claim.text,), failed=not found)


class Queries(NamedTuple):
    """Claim id -> its queries, how many claims have none of the model, and notes for the reader of the results."""

    searches: dict[str, tuple[str, ...]]
    failed: int
    notes: tuple[str, ...]

    @property
    def texts(self) -> dict[str, str]:
        """Claim id -> what passages are ranked by: the words of all its queries."""
        return {claim: " ".join(queries) for claim, queries in self.searches.items()}


async def queries_of(writer: QueryWriter | None, response: Response, claims: Sequence[Claim]) -> Queries:
    """Writes the queries of all claims at once; without a writer, the claims are their own queries."""
    if writer is None:
        return Queries({claim.id: (claim.text,) for claim in claims}, 0, ())
    written = await together(_write_query(writer, claim, response) for claim in claims)
    failed = sum(own.failed for _, own in written)
    notes = [] if isinstance(writer, ClaimQueries) else [WRITTEN_QUERIES]
    return Queries({claim: own.queries for claim, own in written}, failed, (*notes, *([CLAIMS_INSTEAD] if failed else [])))


async def _write_query(writer: QueryWriter, claim: Claim, response: Response) -> tuple[str, Written]:
    return claim.id, await writer.write(claim, response)


def key_words(claim: str, topic: str | None = None) -> str:
    """The topic, and the claim's words without function words: "Ada Morel born Lyon 1950"."""
    found = [word for word in words(claim) if not _NO_KEY_WORD.fullmatch(word)]
    about = [word for word in words(topic or "") if word.casefold() not in {one.casefold() for one in found}]
    return plain(" ".join((*about, *found)))


def queries_about(claim: str, generation: Generation, count: int = 1) -> list[str]:
    """The queries of an answer that share a word with the claim; this leaves out refusals and remarks of the model."""
    return [query for query in read_queries(generation, count) if normalised_words(query) & normalised_words(claim)]


def read_queries(generation: Generation, count: int = 1) -> list[str]:
    """The different queries in an answer, as plain words; none if the answer is something else.

    An answer that was cut, has more lines than were asked for or no word, or a line that is too long, holds no query.
    """
    answer = without_thoughts(readable(generation.text))
    if generation.finish != "stop" or _THOUGHT_MARK in answer:
        return []
    lines = [_HEADED.sub("", line, count=1) for line in answer.splitlines()]
    lines = [plain(line) for line in lines if _WORD.search(line)]
    if len(lines) > count or any(len(line) > LONGEST_QUERY for line in lines):
        return []
    return list({normalise(line): line for line in lines if _WORD.search(line)}.values())


def plain(text: str) -> str:
    """The query without search operators: words stay.

    Field operators ("site:") lose their colon, "-word" its sign, "OR" its capitals; quotation marks, brackets, wildcards,
    "!bangs", controls and invisible characters are removed.
    """
    bare = " ".join(_SIGNS.sub(" ", remove_invisible(readable(text))).split())
    tokens = _LEADING.sub("", without_fields(bare)).split()
    joined = " ".join(token for token in tokens if _WORD.search(token)).rstrip(" .,;?。")
    return without_conjunctions(joined)
