"""What several commands take on the command line, with its help text: each option is described once."""

from pathlib import Path
from typing import Annotated

import typer

Data = Annotated[
    Path | None,
    typer.Option(
        "--data", help="Responses: JSONL or JSON, ours or FActScore's, VeriScore's, FaStfact's, IBM's. Default: the sample."
    ),
]
MethodName = Annotated[
    str | None,
    typer.Option("--method", help="See `localfact methods`. Default: fastfact with a --model, builtin-fr2 without."),
]
Model = Annotated[
    str | None,
    typer.Option("--model", help="Language model: a card (`localfact models list`), a folder of weights, or a hub id."),
]
EngineArg = Annotated[
    list[str] | None,
    typer.Option("--engine-arg", metavar="KEY=VALUE", help="An argument of vLLM, over the card's; repeat for several."),
]
Transcript = Annotated[
    Path | None, typer.Option("--transcript", help="Keep every call of the model in this file (SQLite); calls in it are free.")
]
Replay = Annotated[
    Path | None, typer.Option("--replay", help="Answer from such a file alone: no model, no tokenizer, the same results.")
]
CorpusFolder = Annotated[
    Path | None,
    typer.Option("--corpus", help="Cached corpus, for responses that bring no passages (`localfact corpus build`)."),
]
Relations = Annotated[str | None, typer.Option("--relations", help="Relation model: lexical. Default: the method's.")]
EmbedderName = Annotated[str, typer.Option("--embedder", help="Model card, folder of weights, or none (BM25 alone).")]
Tables = Annotated[
    str | None,
    typer.Option("--tables", help="Factor tables: paper, priors or balanced (see ARCHITECTURE.md). Default: the method's."),
]
Solver = Annotated[str, typer.Option("--solver", help="How marginals are computed: auto, exact or loopy.")]
Stride = Annotated[
    str, typer.Option("--stride", help="fastfact: sentences a chunk has; max is the whole response (the paper's choice).")
]
Theta = Annotated[
    float,
    typer.Option("--theta", min=0, max=1, help="fastfact: the confidence from which a definite label needs no evidence."),
]
Confidence = Annotated[
    str, typer.Option("--confidence", help="fastfact: token reads the label's own; distribution also asks for all six labels.")
]
KeepDuplicates = Annotated[
    bool, typer.Option("--keep-duplicates", help="fastfact: keep equal claims of several chunks apart, as the paper does.")
]
ExtractionTokens = Annotated[
    int,
    typer.Option("--extraction-tokens", min=1, help="fastfact: longest answer about a chunk; beyond, it is split."),
]
VerificationTokens = Annotated[
    int, typer.Option("--verification-tokens", min=1, help="fastfact: longest answer about a claim.")
]
Seed = Annotated[int, typer.Option("--seed", help="Of the solver, the markers around evidence, and bootstrap intervals.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON alone.")]
MaxWords = Annotated[int, typer.Option("--max-words", min=1, help="Refuse longer responses.")]
RecallK = Annotated[str, typer.Option("--recall-k", help="K of R@K and F1@K: median, max, gold or a number.")]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="Only the first so many rows.")]
Concurrency = Annotated[int, typer.Option("--concurrency", min=1, help="Responses on the road at once.")]
Force = Annotated[bool, typer.Option("--force", help="Begin again; what was made is forgotten.")]
