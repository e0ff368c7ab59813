"""The commands that ask a language model outside an evaluation: choose, extract, generate, calibrate."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from localfact.cli.options import AsJson, Concurrency, Force, Limit, MaxWords, options_from, read_text
from localfact.cli.watching import reporting_interruption
from localfact.errors import InputError
from localfact.inputs.responses import MAX_WORDS
from localfact.methods.options import ChunkOptions, GenerationOptions, ModelOptions, Options
from localfact.methods.uses import leave_out
from localfact.report.console import SOME_FAILED, errors, note, show
from localfact.report.progress import TerminalProgress
from localfact.report.tables import fields_table, table_of
from localfact.runtime.files import write_file

#: Defaults of `calibrate`: the share of wrong ones among accepted claims, and the probability that it is exceeded.
RISK, DELTA = 0.05, 0.05

Out = Annotated[Path, typer.Option("--out", help="The file to make. Killed, the same command goes on with it.")]


@options_from(Options, ModelOptions, without={"guided", "min_mass", "prompts"})
def choose(
    options: Options,
    labels: Annotated[str, typer.Option("--labels", help="The closed set, separated by commas.")],
    prompt_file: Annotated[Path, typer.Option("--prompt-file", help="A text file: one message of the user.")],
    prefix: Annotated[str, typer.Option("--prefix", help="The beginning of an answer, which the labels follow.")] = "",
    as_json: AsJson = False,
) -> None:
    """Ask a model how probable labels are as what it says next; nothing is generated.

    The chat template is applied; labels follow the generation prompt (or --prefix) directly, without a space. `log_probs` are
    exact for what tells the labels apart: the first token, and every later one at which labels part; tokens that then have no
    alternative count as certain (one label alone is asked for all its tokens). `mass` is their sum as probabilities;
    `distribution` is normalised over them.
    """
    from localfact.api.choose import choose as ask
    from localfact.llm.calls import require_labels

    answer = ask(read_text(prompt_file), require_labels(labels.split(",")), options=options, prefix=prefix)
    show(answer, as_json=as_json, view=fields_table)


@options_from(Options, "extractor", "merge_duplicates", ModelOptions, ChunkOptions, "seed")
def extract(
    options: Options,
    data: Annotated[Path, typer.Option("--data", help="Responses, in any schema that eval reads.")],
    out: Out,
    limit: Limit = None,
    max_words: MaxWords = MAX_WORDS,
    concurrency: Concurrency = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Extract claims into a file: with their pre-verification by one model, for `eval --model OTHER` to judge, or by rules.

    [dim]localfact extract --data answers.jsonl --extractor rules --out claims.jsonl[/]
    [dim]localfact extract --data answers.jsonl --model llama-3.1-8b --out claims.jsonl[/]
    [dim]localfact eval --data claims.jsonl --model llama-3.1-70b --corpus index/mine[/]
    """
    from localfact.api.extract import extract_claims
    from localfact.runs.passes import PassOptions

    with interruptible(out) as progress:
        summary = extract_claims(
            data,
            out,
            options=options,
            limit=limit,
            max_words=max_words,
            pass_options=PassOptions(concurrency=concurrency, force=force, progress=progress),
        )
    show(summary.model_dump(mode="json"), as_json=as_json, view=fields_table)
    raise typer.Exit(summary.exit_code)


@options_from(GenerationOptions, without={"instruction"})
@options_from(Options, ModelOptions, without={"guided", "min_mass", "prompts"})
def generate(
    options: Options,
    generation: GenerationOptions,
    data: Annotated[
        Path,
        typer.Option(
            "--data", help="Prompts: LongFact's, FActScore's, VeriScore's, FaStfact's rows, or a .txt file, one a line."
        ),
    ],
    out: Out,
    two_paragraphs: Annotated[
        bool, typer.Option("--two-paragraphs", help="Ask for up to two paragraphs, as FactReasoner's authors did.")
    ] = False,
    entities: Annotated[bool, typer.Option("--entities", help="Lines of a .txt file are people: ask for a biography.")] = False,
    limit: Limit = None,
    concurrency: Concurrency = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Have a model answer prompts; the responses are what `eval --data` judges.

    [dim]localfact generate --data prompts.jsonl --model qwen2.5-7b --out responses.jsonl[/]
    """
    from localfact.api.generate import generate_responses
    from localfact.runs.passes import PassOptions

    if two_paragraphs:
        generation = generation.model_copy(update={"instruction": "two-paragraphs"})
    with interruptible(out) as progress:
        summary = generate_responses(
            data,
            out,
            options=options,
            generation=generation,
            entities=entities,
            limit=limit,
            pass_options=PassOptions(concurrency=concurrency, force=force, progress=progress),
        )
    show(summary.model_dump(mode="json"), as_json=as_json, view=fields_table)
    raise typer.Exit(summary.exit_code)


@options_from(Options, ModelOptions, "seed")
def calibrate(
    options: Options,
    data: Annotated[
        Path | None, typer.Option("--data", help="For theta: responses whose claims carry labels (S, NS, IR).")
    ] = None,
    relations: Annotated[
        str | None,
        typer.Option(
            "--relations",
            metavar="PAIRS",
            help="For a map of relations instead: JSON lines of premise, hypothesis, label; or reference, pairs that ship.",
        ),
    ] = None,
    verdicts: Annotated[
        Path | None,
        typer.Option(
            "--verdicts", metavar="RUN", help="For thresholds of verdicts instead: a run over claims that people labelled."
        ),
    ] = None,
    verdict_thresholds: Annotated[
        Path | None,
        typer.Option("--verdict-thresholds", help="With --verdicts: write them here, for eval --verdict-thresholds."),
    ] = None,
    relation_map: Annotated[
        Path | None, typer.Option("--relation-map", help="With --relations: write the map here, for eval --relation-map.")
    ] = None,
    method: Annotated[
        str | None, typer.Option("--method", help="One with a gate: fastfact (the default) or localfact.")
    ] = None,
    max_risk: Annotated[
        float,
        typer.Option(
            "--max-risk", help="Highest share of wrong ones among the claims that skip the search, or verdicts that stand."
        ),
    ] = RISK,
    delta: Annotated[float, typer.Option("--delta", help="Probability that it is exceeded after all.")] = DELTA,
    prior_map: Annotated[
        Path | None,
        typer.Option(
            "--prior-map", help="Also fit a map from what the model thinks to how often it is right, for eval --prior-map."
        ),
    ] = None,
    limit: Limit = None,
    max_words: MaxWords = MAX_WORDS,
    concurrency: Concurrency = None,
    as_json: AsJson = False,
) -> None:
    """Find theta or thresholds of verdicts that are wrong at most so often, or take the bias out of a model's relations.

    With --data: labelled claims are pre-verified by the model, each by itself, as eval does with given claims; for each theta
    the table has the risk of the accepted claims, an exact upper bound on it (Clopper and Pearson, 1934), and the share of
    claims that skip the search. Thetas are tested from strict to lenient (Learn then Test, Angelopoulos et al., 2021). With
    --transcript an interrupted calibration loses nothing.

    With --relations: the model is asked about labelled pairs of premise and hypothesis, and a map is fitted from its
    probabilities of the three relations to calibrated ones. The table has both, each pair by a map fitted without it.

    With --verdicts: no model is asked. From a run over labelled claims, thresholds of posteriors are chosen such that of the
    claims that are called supported, and of those called contradicted, at most --max-risk are wrong, with probability 1 -
    --delta: a bound over responses, as claims of one depend on each other. It takes some 80 responses at 0.05.

    [dim]localfact calibrate --data labelled.jsonl --model qwen2.5-7b[/]
    [dim]localfact calibrate --verdicts runs/labelled --delta 0.1 --verdict-thresholds thresholds.json[/]
    [dim]localfact calibrate --relations reference --model qwen2.5-7b --relation-map map.json[/]
    """
    if sum(given is not None for given in (data, relations, verdicts)) != 1:
        raise InputError(
            "calibrate takes --data, to choose theta, --relations, to fit a map of relations, or --verdicts, to choose "
            "thresholds of verdicts: name one."
        )
    if verdicts is not None:
        no_use = {"--method": method, "--prior-map": prior_map, "--relation-map": relation_map, "--limit": limit}
        no_use |= {"--concurrency": concurrency, "--max-words": max_words != MAX_WORDS or None}
        if named := [flag for flag, value in no_use.items() if value is not None]:
            raise InputError(f"{', '.join(named)} would change nothing with --verdicts: the run is as it is. Leave it out.")
        leave_out(options, Options.model_fields, "calibrate --verdicts: the run is as it is")
        _calibrate_verdicts(verdicts, verdict_thresholds, max_risk, delta, as_json=as_json)
        return
    if verdict_thresholds is not None:
        raise InputError("--verdict-thresholds is where those of --verdicts are written; name a run with --verdicts.")
    if data is None:
        of_theta = {"--method": method, "--prior-map": prior_map, "--limit": limit, "--concurrency": concurrency}
        of_theta |= {"--max-risk": max_risk != RISK or None, "--delta": delta != DELTA or None}
        if named := [flag for flag, value in of_theta.items() if value is not None]:
            raise InputError(f"{', '.join(named)} is about theta, and --relations fits a map of relations; leave it out.")
        _calibrate_relations(str(relations), relation_map, options, as_json=as_json)
        return
    if relation_map is not None:
        raise InputError("--relation-map is where the map of --relations is written; with --data there is none.")
    from localfact.api.calibrate import calibrate as find_theta
    from localfact.api.calibrate import view_rows
    from localfact.scoring.risk import fewest_claims

    with interruptible(None) as progress:
        found = find_theta(
            data,
            method=method,
            options=options,
            max_risk=max_risk,
            delta=delta,
            with_prior_map=prior_map is not None,
            limit=limit,
            max_words=max_words,
            concurrency=concurrency,
            progress=progress,
        )
    for warning in found.warnings:
        note(warning)
    if prior_map is not None and found.prior_map is not None:
        write_file(prior_map, [found.prior_map.model_dump_json(indent=2).encode(), b"\n"])
        note(f"The map of priors, from {found.prior_map.claims} claims, is in {prior_map}.")
    show(found.model_dump(mode="json"), as_json=as_json, view=lambda _: table_of(view_rows(found)))
    note(f"{found.claims} labelled claims, {found.definite} of them with a label that may settle them.")
    if found.chosen is None:
        note(
            f"No theta keeps the risk under {max_risk:g} with probability {1 - delta:g}: every claim must go to evidence. It "
            f"takes {fewest_claims(max_risk, delta)} accepted claims, all right, to show that much."
        )
    else:
        saved = f"{found.chosen.skipped:.1%} of the claims skip the search"
        note(f"theta = {found.chosen.theta:.6g}: risk under {max_risk:g} with probability {1 - delta:g}; {saved}.")
    if prior_map is not None and found.prior_map is None:
        raise typer.Exit(SOME_FAILED)


def _calibrate_verdicts(run: Path, file: Path | None, max_risk: float, delta: float, *, as_json: bool) -> None:
    from localfact.api.calibrate_verdicts import calibrate_verdicts, view_rows

    found = calibrate_verdicts(run, max_risk=max_risk, delta=delta)
    if file is not None:
        write_file(file, [found.thresholds.model_dump_json(indent=2).encode(), b"\n"])
        note(f"The thresholds, from {found.thresholds.claims} claims, are in {file}.")
    show(found.model_dump(mode="json"), as_json=as_json, view=lambda _: table_of(view_rows(found)))
    note(found.meaning)
    if None in (found.thresholds.supported, found.thresholds.contradicted):
        note(
            f"It takes {found.enough_responses} responses with as many such verdicts each, all right, to show a risk of "
            f"{max_risk:g} with probability {1 - delta:g}."
        )


def _calibrate_relations(pairs: str, file: Path | None, options: Options, *, as_json: bool) -> None:
    from localfact.api.calibrate_relations import calibrate_relations, view_rows

    with interruptible(None):
        found = calibrate_relations(pairs, options=options)
    if file is not None:
        write_file(file, [found.relation_map.model_dump_json(indent=2).encode(), b"\n"])
        note(f"The map, from {found.pairs} pairs, is in {file}.")
    show(found.model_dump(mode="json"), as_json=as_json, view=lambda _: table_of(view_rows(found)))


@contextmanager
def interruptible(out: Path | None) -> Iterator[TerminalProgress]:
    """Shows progress; Ctrl-C prints where the results so far are, if there are any."""
    kept = f"What is done is kept beside {out}" if out else "A --transcript keeps what was asked"
    with reporting_interruption(f"{kept}; the same command goes on from there."), TerminalProgress(errors()) as progress:
        yield progress
