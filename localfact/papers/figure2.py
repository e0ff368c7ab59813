"""FastFact's Figure 2: what the stride of a chunk does to claims and to cost; and beside it theta, of which footnote 2 speaks.

Every stride is an extraction of its own, into a file; the language model is loaded once, and a transcript keeps its calls.
Which claims a threshold theta would settle without evidence follows from the confidences that the extractor recorded.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

from localfact.api.evaluate import RUNS
from localfact.api.extract import extract_file, note_versions
from localfact.api.plot import write_figure
from localfact.api.sample import sample_responses
from localfact.errors import InputError
from localfact.inputs.responses import read_responses
from localfact.llm.engine import Engine
from localfact.methods.engine import engine_facts, open_engine
from localfact.methods.extraction import CHUNKED, extraction_settings, open_extractor, pass_settings
from localfact.methods.fastfact import FASTFACT
from localfact.methods.options import Options
from localfact.records import Claim, Record, Response
from localfact.report.table_data import Column, Group, Table, number
from localfact.runs.passes import PassOptions
from localfact.runs.progress import Progress
from localfact.runs.run_folder import CALLS_FILE, settings_name
from localfact.runtime.files import file_digest
from localfact.runtime.tasks import complete
from localfact.vocabulary import DEFINITE_LABELS, GoldLabel

#: The paper's is 0.995.
THETAS = (0.5, 0.9, 0.95, 0.99, 0.995, 0.999)
#: (what is run) -> a context that shows its progress.
Watch = Callable[[str], AbstractContextManager[Progress]]


class StrideMeasured(Record):
    """One stride.

    Attributes:
        stride: sentences a chunk, or max.
        responses: how many did not fail.
        failed: how many did.
        claims: extracted from a response, on average.
        annotated: K' of the same responses, on average; None without annotation.
        apart: |claims - K'| of a response, on average. calls, tokens: of the language model for a response, on average, where
            tokens are those of prompts and answers.
        settled: theta -> share of the claims that this threshold would settle without evidence.
    """

    stride: str
    responses: int
    failed: int
    claims: float
    annotated: float | None
    apart: float | None
    calls: float
    tokens: float
    settled: dict[str, float]


def measure_strides(
    data: Path | None,
    *,
    options: Options,
    strides: Sequence[str],
    watch: Watch,
    out: Path | None = None,
    limit: int | None = None,
) -> tuple[Path, list[StrideMeasured]]:
    """Extracts the claims of responses at every stride; returns the folder of the files, and what was measured.

    Args:
        data: responses in any schema of inputs/responses.py, with annotated claims for K'; the sample when None.
        options: the language model, or a transcript to replay.
        strides: numbers, or "max".
        watch: gives each one's progress.
        out: the folder; runs/strides-<hash> when None.
        limit: only the first so many responses.

    Raises:
        InputError: no language model is named, or a stride is none. LocalFactError: one that stops a pass.
    """
    if not options.names_model:
        raise InputError("Name the model that extracts: --model smollm2-135m (`localfact models list`), or --replay FILE.")
    if not strides:
        raise InputError("Name a stride or more: --strides 1,4,16,max.")
    path = data or sample_responses()
    folder = out or RUNS / f"strides-{_name(path, options, limit)}"
    changes: dict[str, Any] = {"claims": "extract", "extractor": CHUNKED}
    if options.replay is None:
        changes["transcript"] = options.transcript or folder / CALLS_FILE
    chosen = {one: options.model_copy(update={**changes, "stride": stride_of(one)}) for one in strides}
    complete(_extract(path, folder, chosen, watch, limit))
    return folder, [measure_stride(one, read_responses(_file(folder, one))) for one in strides]


def stride_of(typed: str) -> int | str:
    """A stride from what was typed.

    Raises:
        InputError: it is neither a number of sentences nor max.
    """
    if typed == "max" or (typed.isdecimal() and int(typed) > 0):
        return typed if typed == "max" else int(typed)
    raise InputError(f"A stride is a number of sentences, or max, not {typed!r}.")


async def _extract(data: Path, folder: Path, chosen: Mapping[str, Options], watch: Watch, limit: int | None) -> None:
    """Extracts the claims at every stride; the language model is loaded when the first of them needs it."""
    first = next(iter(chosen.values()))
    facts = engine_facts(first)
    async with AsyncExitStack() as outer:

        @cache
        def engine() -> Engine:
            return open_engine(first, outer, facts)

        async def extract(stride: str, options: Options) -> None:
            settings = extraction_settings(CHUNKED, options, merging=FASTFACT.merging)
            with watch(f"stride {stride}") as progress:
                await extract_file(
                    data,
                    _file(folder, stride),
                    lambda _: open_extractor(settings, engine(), options.seed),
                    extractor=pass_settings(settings, options, facts),
                    limit=limit,
                    pass_options=note_versions(PassOptions(progress=progress), facts),
                )

        for stride, options in chosen.items():
            await extract(stride, options)


def measure_stride(stride: str, responses: Sequence[Response]) -> StrideMeasured:
    """What a file of extracted claims says."""
    made = [one for one in responses if one.problem is None]
    claims = [one.claims or () for one in made]
    judged = (GoldLabel.SUPPORTED, GoldLabel.NOT_SUPPORTED)
    annotated = [
        (len(one.claims or ()), sum(claim.gold in judged for claim in one.annotation))
        for one in made
        if one.annotation is not None
    ]
    costs = [one.extraction.counts if one.extraction is not None else {} for one in made]
    tokens = ("earlier_prompt_tokens", "earlier_output_tokens")
    return StrideMeasured(
        stride=stride,
        responses=len(made),
        failed=len(responses) - len(made),
        claims=_mean([len(one) for one in claims]),
        annotated=_mean([people for _, people in annotated]) if annotated else None,
        apart=_mean([abs(ours - people) for ours, people in annotated]) if annotated else None,
        calls=_mean([one.get("earlier_calls", 0) for one in costs]),
        tokens=_mean([sum(one.get(name, 0) for name in tokens) for one in costs]),
        settled={f"{theta:g}": share_settled([claim for each in claims for claim in each], theta) for theta in THETAS},
    )


def share_settled(claims: Sequence[Claim], theta: float) -> float:
    """The share of claims whose label is definite and at least so sure (FastFact, section 4.1); 0 of none."""
    sure = [
        claim.preverification is not None
        and claim.preverification.label in DEFINITE_LABELS
        and claim.preverification.confidence > theta
        for claim in claims
    ]
    return sum(sure) / len(sure) if sure else 0.0


def figure2_tables(found: Sequence[StrideMeasured], facts: dict[str, str]) -> Iterator[Table]:
    """Strides against claims and cost, and thetas against the share that they settle."""
    columns = ("claims", "K'", "|claims - K'|", "calls", "tokens", "responses", "failed")
    rows = tuple(
        (
            one.stride,
            *(number(value, 1) for value in (one.claims, one.annotated, one.apart, one.calls)),
            *(number(value, 0) for value in (one.tokens, one.responses, one.failed)),
        )
        for one in found
    )
    heads = (Column("stride", "left"), *map(Column, columns))
    yield Table("FastFact, Figure 2: strides, a response on average", heads, (Group("", rows),), facts)
    shares = tuple((one.stride, *(number(share, 3) for share in one.settled.values())) for one in found)
    thetas = (Column("stride", "left"), *(Column(f"theta {theta:g}") for theta in THETAS))
    title = "Share of the claims that are settled without evidence, by theta (the paper's is 0.995)"
    yield Table(title, thetas, (Group("", shares),))


def draw_figure2(found: Sequence[StrideMeasured], folder: Path) -> list[str]:
    """Draws what was measured, as PNG and SVG in `folder`; returns the files."""
    from localfact.report.stride_plot import stride_figure  # matplotlib takes a second to load

    figure = stride_figure(
        [one.stride for one in found],
        [one.claims for one in found],
        [one.tokens for one in found],
        next((one.annotated for one in found if one.annotated is not None), None),
        {f"{theta:g}": [one.settled[f"{theta:g}"] for one in found] for theta in THETAS},
    )
    return write_figure(figure, folder / "figure2")


def _mean(values: Sequence[float]) -> float:
    return fmean(values) if values else 0.0


def _file(folder: Path, stride: str) -> Path:
    return folder / f"stride-{stride}.jsonl"


def _name(data: Path, options: Options, limit: int | None) -> str:
    chosen = options.model_dump(mode="json", exclude={"transcript", "replay"})
    return settings_name({"data": file_digest(data) if data.is_file() else "", "limit": limit, "options": chosen})
