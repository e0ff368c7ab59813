"""What several commands take on the command line: each option is described, and a text file read, in one place."""

from pathlib import Path
from typing import Annotated

import typer

from localfact.errors import InputError

#: Headings in --help, under which options of one part stand together.
LANGUAGE_MODEL, FASTFACT, FACTREASONER, EVIDENCE, WEB = "Language model", "FastFact", "FactReasoner", "Evidence", "Web"

Data = Annotated[
    Path | None,
    typer.Option(
        "--data", help="Responses: JSONL or JSON, ours or FActScore's, VeriScore's, FaStfact's, IBM's. Default: the sample."
    ),
]
MethodName = Annotated[
    str | None,
    typer.Option("--method", help="See `localfact methods`. Default: localfact with a --model, builtin-fr2 without."),
]
Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        help="Language model: a card (`localfact models list`), a folder of weights, or a hub id.",
        rich_help_panel=LANGUAGE_MODEL,
    ),
]
EngineArg = Annotated[
    list[str] | None,
    typer.Option(
        "--engine-arg",
        metavar="KEY=VALUE",
        help="An argument of vLLM, over the card's; repeat for several.",
        rich_help_panel=LANGUAGE_MODEL,
    ),
]
Transcript = Annotated[
    Path | None,
    typer.Option(
        "--transcript",
        help="Keep every call of the model in this file (SQLite); calls in it are free.",
        rich_help_panel=LANGUAGE_MODEL,
    ),
]
Replay = Annotated[
    Path | None,
    typer.Option(
        "--replay",
        help="Answer from such a file alone: no model, no tokenizer, the same results.",
        rich_help_panel=LANGUAGE_MODEL,
    ),
]
CorpusFolder = Annotated[
    Path | None,
    typer.Option(
        "--corpus",
        help="Cached corpus, for responses that bring no passages; with --provider, where what the web gives is kept.",
        rich_help_panel=EVIDENCE,
    ),
]
Provider = Annotated[
    list[str] | None,
    typer.Option(
        "--provider",
        help="Search the web: duckduckgo, searxng, serper, wikipedia or brave; repeat for one to ask when the first fails.",
        rich_help_panel=WEB,
    ),
]
SearxngUrl = Annotated[
    str | None, typer.Option("--searxng-url", help="Address of your SearXNG, for --provider searxng.", rich_help_panel=WEB)
]
AllowHost = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-host",
        help="A host or network (10.0.0.0/8) to fetch from although it is not public; repeat for several.",
        rich_help_panel=WEB,
    ),
]
HostDelay = Annotated[
    float, typer.Option("--host-delay", min=0, help="Seconds between two requests to one host.", rich_help_panel=WEB)
]
EvidenceKind = Annotated[
    str,
    typer.Option("--evidence", help="page: whole pages; snippet: what search results show of them.", rich_help_panel=EVIDENCE),
]
BlockHost = Annotated[
    list[str] | None,
    typer.Option("--block-host", help="Use no pages of this host, or of those below it; repeat.", rich_help_panel=EVIDENCE),
]
OnlyHost = Annotated[
    list[str] | None,
    typer.Option("--only-host", help="Use pages of this host, or of those below it, alone; repeat.", rich_help_panel=EVIDENCE),
]
Queries = Annotated[
    str,
    typer.Option(
        "--queries",
        help="What is searched with: claim, or llm for a query that the model writes.",
        rich_help_panel=EVIDENCE,
    ),
]
Claims = Annotated[
    str | None,
    typer.Option("--claims", help="given: use claims that come with the data; extract: ignore them. Default: given."),
]
Offline = Annotated[
    bool, typer.Option("--offline", help="Resolve no name and connect to nothing outside this machine.", rich_help_panel=WEB)
]
Relations = Annotated[
    str | None,
    typer.Option(
        "--relations",
        help="Relation model: builtin-nli, lexical, llm (the --model), or a card like albert-vitaminc; see localfact methods.",
        rich_help_panel=FACTREASONER,
    ),
]
EmbedderName = Annotated[
    str, typer.Option("--embedder", help="Model card, folder of weights, or none (BM25 alone).", rich_help_panel=EVIDENCE)
]
Tables = Annotated[
    str | None,
    typer.Option(
        "--tables",
        help="Factor tables: paper, priors or balanced (see ARCHITECTURE.md). Default: the method's.",
        rich_help_panel=FACTREASONER,
    ),
]
Solver = Annotated[
    str,
    typer.Option(
        "--solver", help="How marginals are computed: auto, exact, bp, wmb, gibbs or pgmpy.", rich_help_panel=FACTREASONER
    ),
]
Stride = Annotated[
    str,
    typer.Option(
        "--stride", help="Sentences a chunk has; max is the whole response (the paper's choice).", rich_help_panel=FASTFACT
    ),
]
Theta = Annotated[
    float,
    typer.Option(
        "--theta", min=0, max=1, help="The confidence from which a definite label needs no evidence.", rich_help_panel=FASTFACT
    ),
]
Confidence = Annotated[
    str | None,
    typer.Option(
        "--confidence",
        help="token reads the label's own; distribution (the default of localfact) also asks for all six labels.",
        rich_help_panel=FASTFACT,
    ),
]
KeepDuplicates = Annotated[
    bool,
    typer.Option(
        "--keep-duplicates", help="Keep equal claims of several chunks apart, as the paper does.", rich_help_panel=FASTFACT
    ),
]
ExtractionTokens = Annotated[
    int,
    typer.Option(
        "--extraction-tokens", min=1, help="Longest answer about a chunk; beyond, it is split.", rich_help_panel=FASTFACT
    ),
]
VerificationTokens = Annotated[
    int, typer.Option("--verification-tokens", min=1, help="Longest answer about a claim.", rich_help_panel=FASTFACT)
]
Seed = Annotated[int, typer.Option("--seed", help="Of the solver, the markers around evidence, and bootstrap intervals.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON alone.")]
MaxWords = Annotated[int, typer.Option("--max-words", min=1, help="Refuse longer responses.")]
RecallK = Annotated[str, typer.Option("--recall-k", help="K of R@K and F1@K: median, max, gold or a number.")]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="Only the first so many rows.")]
Concurrency = Annotated[
    int | None, typer.Option("--concurrency", min=1, help="Rows at work at once. Default: 4, or 32 with a language model.")
]
Force = Annotated[bool, typer.Option("--force", help="Begin again; what was made is forgotten.")]


def read_text(file: Path, *, lenient: bool = False) -> str:
    """A text file in UTF-8, as it is; `lenient` makes replacement characters of other bytes.

    Raises:
        InputError: it cannot be read, or is not UTF-8.
    """
    try:
        return file.read_text(encoding="utf-8", errors="replace" if lenient else "strict")
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise InputError(f"{file} is not UTF-8 text.") from None
