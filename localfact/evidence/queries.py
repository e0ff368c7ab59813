"""The search query of a claim: its own words, or a query that a language model writes (FactReasoner, section 3.3, Retriever).

A written query is stripped of operators that a search engine would interpret. Where the model wrote none that can be used, the
claim is the query, and a note in the evidence says so.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from localfact.errors import InputError, PromptTooLongError, RequestError
from localfact.llm.engine import Engine, Generation
from localfact.prompts import Boundary, query_chat
from localfact.prompts.grammars import query_grammar
from localfact.records import Claim, Response
from localfact.runtime.tasks import together
from localfact.text import normalise, readable, words
from localfact.web.invisible import visible
from localfact.web.searching.operators import without_conjunctions, without_fields

#: The stage that calls are counted under.
QUERY = "query"
#: Longer answers are no query.
LONGEST_QUERY = 300

WRITTEN_QUERIES = "Evidence: the language model wrote the search queries (--queries llm)."
CLAIMS_INSTEAD = (
    "Evidence: some claims were searched by their own words, as the language model wrote no query for them that can be used."
)

_THOUGHT_BEGINS, _THOUGHT_ENDS = "<think>", "</think>"
_HEADED = re.compile(r"\s*(?:[-*•]\s+)?(?:\*\*)?(?:search )?query(?:\*\*)?:(?:\*\*)?", re.IGNORECASE)
_SIGNS = re.compile(r"[\ufffd\"“”„«»＂`!！|*~^\\(){}\[\]（）<>]|\.\.+")
_LEADING = re.compile(r"(?<!\S)[-+@/#－−–—‐‑＋]+")
_WORD = re.compile(r"[^\W_]")


class Query(NamedTuple):
    """A claim's search query; `failed` where a model should have written it and the claim is used instead."""

    text: str
    failed: bool = False


class QueryWriter(Protocol):
    """Writes the search query of a claim."""

    async def query(self, claim: Claim, response: Response) -> Query:
        """Returns the query for a claim of the response."""
        ...


class ClaimQueries:
    """The claim is the query, word for word: the default."""

    async def query(self, claim: Claim, response: Response) -> Query:
        """Returns the claim's own text."""
        return Query(claim.text)


class LLMQueries:
    """Has a language model write the query of each claim.

    Args:
        engine: the language model.
        max_tokens: the most tokens of an answer, from 1.
        seed: of the boundary's markers and of the sampling.

    Raises:
        InputError: max_tokens below 1.
    """

    def __init__(self, engine: Engine, *, max_tokens: int = 64, seed: int = 0) -> None:
        if max_tokens < 1:
            raise InputError(f"An answer of {max_tokens} tokens holds no query: give a whole number from 1.")
        self._engine = engine
        self._max_tokens = max_tokens
        self._seed = seed
        self._boundary = Boundary(seed)

    async def query(self, claim: Claim, response: Response) -> Query:
        """Returns the model's query as plain words, or the claim itself where the answer cannot be its query.

        Raises:
            LocalFactError: one that concerns all claims: a dead engine, something missing.
        """
        chat = query_chat(response.prompt, response.topic, claim.text, boundary=self._boundary)
        try:
            generation = await self._engine.generate(
                chat, max_tokens=self._max_tokens, grammar=query_grammar(), seed=self._seed, stage=QUERY
            )
        except (PromptTooLongError, RequestError):
            return Query(claim.text, failed=True)
        text = read_query(generation)
        # A refusal or a remark of the model shares no word with the claim.
        if text is None or not _words(text) & _words(claim.text):
            return Query(claim.text, failed=True)
        return Query(text)


class Queries(NamedTuple):
    """Claim id -> query for a response, how many of them failed, and notes for the reader of the results."""

    texts: dict[str, str]
    failed: int
    notes: tuple[str, ...]


async def queries_of(writer: QueryWriter | None, response: Response, claims: Sequence[Claim]) -> Queries:
    """Writes the queries of all claims at once; without a writer, the claims are their own queries."""
    if writer is None:
        return Queries({claim.id: claim.text for claim in claims}, 0, ())
    written = await together(_written(writer, claim, response) for claim in claims)
    failed = sum(query.failed for _, query in written)
    notes = [] if isinstance(writer, ClaimQueries) else [WRITTEN_QUERIES]
    return Queries({claim: query.text for claim, query in written}, failed, (*notes, *([CLAIMS_INSTEAD] if failed else [])))


async def _written(writer: QueryWriter, claim: Claim, response: Response) -> tuple[str, Query]:
    return claim.id, await writer.query(claim, response)


def read_query(generation: Generation) -> str | None:
    """The one line of an answer, as plain words; None for anything else.

    An answer that was cut, has several lines or no word, or is too long, is no query.
    """
    answer = readable(generation.text).rpartition(_THOUGHT_ENDS)[2]
    if generation.finish != "stop" or _THOUGHT_BEGINS in answer:
        return None
    lines = [_HEADED.sub("", line, count=1) for line in answer.splitlines()]
    lines = [line for line in lines if _WORD.search(line)]
    text = plain(lines[0]) if len(lines) == 1 else ""
    return text if _WORD.search(text) and len(text) <= LONGEST_QUERY else None


def plain(text: str) -> str:
    """The query without search operators: words stay.

    Field operators ("site:") lose their colon, "-word" its sign, "OR" its capitals; quotation marks, brackets, wildcards,
    "!bangs", controls and invisible characters are removed.
    """
    bare = " ".join(_SIGNS.sub(" ", visible(readable(text))).split())
    tokens = _LEADING.sub("", without_fields(bare)).split()
    joined = " ".join(token for token in tokens if _WORD.search(token)).rstrip(" .,;?。")
    return without_conjunctions(joined)


def _words(text: str) -> set[str]:
    return {word for found in words(text) if (word := normalise(found))}
