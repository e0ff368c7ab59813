"""`localfact mcp`: an MCP server over standard input and output, with the official SDK; three tools, one engine behind them.

Standard output carries the protocol and nothing else. Models and corpus are loaded while the client says hello.
"""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from localfact.api.judged_by import JudgedBy
from localfact.api.shared_assessor import LONGEST_QUERY, SharedAssessor
from localfact.errors import LocalFactError, MissingError
from localfact.records import Assessment, Claim, CountedPassage, JudgedClaim, Passage, Record
from localfact.report.explanations import FLAGS, VERDICTS
from localfact.report.marked_text import decisive_sentence
from localfact.report.tables import best_sentence
from localfact.runtime.cures import install_extra

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

#: The longest text and claim, in characters; the most passages that a text brings, and that an explanation has.
LONGEST_TEXT, LONGEST_CLAIM = 200_000, 5_000
MOST_PASSAGES, PASSAGES_SHOWN = 200, 10

Text = Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT, description="The text.")]
OneClaim = Annotated[
    str, Field(min_length=1, max_length=LONGEST_CLAIM, description="One statement that can be understood alone, in a sentence.")
]
Query = Annotated[str, Field(min_length=1, max_length=LONGEST_QUERY, description="What to look for: a claim, or key words.")]
Prompt = Annotated[str | None, Field(description="What the text answers.")]
Topic = Annotated[str | None, Field(description="What the text is about; resolves a leading she, he or it.")]
Passages = Annotated[
    list[str] | None, Field(max_length=MOST_PASSAGES, description="Texts to check it with, in place of the corpus.")
]


class CheckedText(Record):
    """What was found of a text.

    Attributes:
        headline: how many claims have which verdict. status: scored, abstained (it states nothing), unscored or failed.
        claims: each with its verdict, and the sentence and the source that decide.
        error: why it failed. warnings: what else to know.
        judged_by: who judged, and what a verdict is not.
    """

    headline: str
    status: str
    claims: tuple[JudgedClaim, ...]
    error: str | None
    warnings: tuple[str, ...]
    judged_by: JudgedBy


class SpeakingPassage(Record):
    """A passage that entered a verdict.

    Attributes:
        relation, probability: to the claim. shift: of the claim's probability, by this passage.
        sentence: the one that the relation hangs on; None where it hangs on no single one.
    """

    title: str
    source: str | None
    date: str | None
    relation: str | None
    probability: float | None
    shift: float | None
    sentence: str | None
    text: str


class ExplainedClaim(Record):
    """A claim's verdict and what it rests on.

    Attributes:
        verdict: in a word. meaning: the same in a sentence. probability: that the claim is true; None where none is computed.
        rationale: what the method says of it. flags: what else to know of this verdict.
        passages: those that entered it, strongest first.
        how: how verdicts are reached. judged_by: who judged, and what a verdict is not.
    """

    claim: str
    verdict: str
    meaning: str
    probability: float | None
    rationale: str | None
    flags: tuple[str, ...]
    passages: tuple[SpeakingPassage, ...]
    how: str
    judged_by: JudgedBy


class RankedPassage(Record):
    """A passage of the corpus. sentence: the one that shares most words with the query."""

    rank: int
    score: float
    title: str
    source: str | None
    date: str | None
    sentence: str
    text: str


class SearchedCorpus(Record):
    """Passages found, best first. judged_by: who would judge a claim by them; nothing was judged here."""

    passages: tuple[RankedPassage, ...]
    judged_by: JudgedBy


def serve_over_stdio(shared: SharedAssessor) -> None:
    """Answers a client on standard input and output until it hangs up, or Ctrl-C.

    Raises:
        MissingError: the SDK is not installed.
    """
    server = mcp_server(shared)
    with contextlib.suppress(KeyboardInterrupt):
        server.run("stdio")


def mcp_server(shared: SharedAssessor) -> "MCPServer[None]":
    """The server with its tools.

    Raises:
        MissingError: the SDK is not installed.
    """
    try:
        from mcp.server.mcpserver import MCPServer
        from mcp.types import ToolAnnotations
    except ImportError as error:
        raise MissingError(f"An MCP server needs more than is installed ({error.name}): {install_extra('mcp')}.") from error

    @contextlib.asynccontextmanager
    async def open_assessor(server: Any) -> AsyncIterator[None]:
        loading = asyncio.create_task(shared.open_meanwhile())
        loading.add_done_callback(lambda done: done.cancelled() or done.exception())  # whoever calls a tool is told
        # The SDK has turned file descriptor 1 to standard error by now; what Python still buffers would come out at the end.
        with contextlib.redirect_stdout(sys.stderr):
            yield

    tools = AssistantTools(shared)
    server: MCPServer[None] = MCPServer(
        "localfact",
        instructions=f"Checks text against a corpus of pages on the user's machine. {shared.judged_by.limits}",
        log_level="ERROR",
        lifespan=open_assessor,
    )
    hints = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
    for tool in (tools.check_text, tools.explain_claim, tools.search_corpus):
        server.add_tool(tool, annotations=hints)
    return server


class AssistantTools:
    """The tools. What their docstrings say, a client reads."""

    def __init__(self, shared: SharedAssessor) -> None:
        self._shared = shared

    async def check_text(
        self, text: Text, prompt: Prompt = None, topic: Topic = None, passages: Passages = None
    ) -> CheckedText:
        """Divide a text into claims and check each against the corpus, or against given passages."""
        found = await self._assess_row({"response": text, "prompt": prompt, "topic": topic, "passages": passages})
        return CheckedText(
            headline=found.headline,
            status=found.status,
            claims=found.judged,
            error=found.error,
            warnings=found.warnings,
            judged_by=self._shared.judged_by,
        )

    async def explain_claim(self, claim: OneClaim, passages: Passages = None) -> ExplainedClaim:
        """Check one claim, and tell which passages speak for and against it and how the verdict is reached."""
        claims = [{"id": "claim", "text": claim}]
        found = await self._assess_row({"response": claim, "claims": claims, "passages": passages})
        verdict = found.verdicts[0]
        by_id = {passage.id: passage for passage in found.passages}
        return ExplainedClaim(
            claim=found.claims[0].text,
            verdict=verdict.label.value,
            meaning=VERDICTS[verdict.label],
            probability=verdict.posterior,
            rationale=verdict.rationale,
            flags=tuple(FLAGS[flag] for flag in verdict.flags),
            passages=tuple(
                speaking_passage(found.claims[0], counted, by_id[counted.passage_id])
                for counted in verdict.passages[:PASSAGES_SHOWN]
                if counted.passage_id in by_id
            ),
            how=self._shared.how,
            judged_by=self._shared.judged_by,
        )

    async def search_corpus(self, query: Query) -> SearchedCorpus:
        """Find the passages of the corpus that a claim of these words would be checked with. Nothing is judged."""
        with telling_errors():
            found = await self._shared.search(query)
        return SearchedCorpus(
            passages=tuple(
                RankedPassage(
                    rank=one.rank,
                    score=one.score,
                    title=one.passage.title,
                    source=source_of(one.passage),
                    date=one.passage.date,
                    sentence=best_sentence(one.passage.text, query),
                    text=one.passage.text,
                )
                for one in found
            ),
            judged_by=self._shared.judged_by,
        )

    async def _assess_row(self, row: Mapping[str, Any]) -> Assessment:
        with telling_errors():
            return await self._shared.check(row)


def speaking_passage(claim: Claim, counted: CountedPassage, passage: Passage) -> SpeakingPassage:
    """A passage with what it means for a claim."""
    sentence = decisive_sentence(passage, claim, counted)
    return SpeakingPassage(
        title=passage.title,
        source=source_of(passage),
        date=passage.date,
        relation=None if counted.relation is None else counted.relation.value,
        probability=counted.probability,
        shift=counted.shift,
        sentence=None if sentence is None else passage.text[sentence.start : sentence.end],
        text=passage.text,
    )


def source_of(passage: Passage) -> str | None:
    """The first address of a passage."""
    return next(iter(passage.links), None)


@contextlib.contextmanager
def telling_errors() -> Any:
    """Hands on what can be mended as an error of the tool, which the client shows."""
    from mcp.server.mcpserver.exceptions import ToolError

    try:
        yield
    except LocalFactError as error:
        raise ToolError(str(error)) from error
