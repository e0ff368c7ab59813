"""Draws summaries and assessments for a terminal, as Rich renderables: what `eval`, `score`, `show` and `check` print."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from localfact.records import Assessment, Claim, CountedPassage, Passage
from localfact.report.accounting_view import accounting_view
from localfact.report.citations_view import citations_view
from localfact.report.coherence_view import coherence_view
from localfact.report.console import line, one_line
from localfact.report.explanations import FLAG_WORDS
from localfact.report.finding_view import sign_of, source_of, verdict_style
from localfact.report.findings import (
    common_flags,
    headline,
    how_clearly,
    many,
    tell_common_flags,
    too_weak,
    without_flags,
)
from localfact.report.marked_text import decisive_sentence, pieces
from localfact.report.recall_view import recall_view
from localfact.report.summary import Summary
from localfact.report.tables import shorten
from localfact.scoring.tally import precision_annotated, tally
from localfact.vocabulary import Flag

#: The most characters of a passage under a verdict.
EXCERPT = 240
#: The most unparsed lines of a model's answer that are shown of one response.
UNPARSED_SHOWN = 10


def summary_view(summary: Summary, findings: RenderableType | None = None) -> RenderableType:
    """What a finished run found in a sentence, the findings where they are given, then tables: scores, verdicts, warnings."""
    parts: list[RenderableType] = [line(headline(summary), "bold"), Text(), *([findings] if findings is not None else [])]
    parts += [scores_table(summary), *reasons_of_unscored(summary), verdicts_line(summary)]
    parts += [line(said, "yellow") for said in tell_common_flags(summary)]
    if summary.accounting.calls_sent:
        parts.append(accounting_view(summary.accounting))
    parts += [line(f"Note: {warning}", "yellow") for warning in summary.warnings]
    if summary.run:
        parts.append(line(f"Run folder: {summary.run}", "dim"))
        parts.append(line(f"Details: report.html in that folder, in a browser; or localfact show {summary.run} ID", "dim"))
    return Group(*parts)


def machine_line(machine: Mapping[str, Any]) -> str:
    """The placement of a language model on the hardware, in one sentence; sizes are estimates, per GPU."""
    if "endpoint" in machine:
        seen = "" if machine["labels"] == "exact" else f"; it reports labels only where they are {machine['labels']} tokens"
        return f"Asking the server at {machine['endpoint']}, which serves '{machine['served as']}'{seen}."
    precision = f"{machine['quantisation']} over {machine['dtype']}" if machine["quantisation"] else machine["dtype"]
    parts = [
        precision,
        *([f"{machine['replicas']} replicas"] if machine.get("replicas", 1) > 1 else []),
        f"tensor parallel {machine['tensor_parallel']}",
        f"weights {machine['weights_gib']:g} GiB",
        f"keys and values {machine['cache_gib']:g} GiB ({machine['cache_tokens']:,} tokens)",
        f"window {machine['window']:,}",
    ]
    if machine["reserved_gib"]:
        parts.append(f"{machine['reserved_gib']:g} GiB left to other models")
    if machine.get("embedder") == "cpu":
        parts.append("the embedder on the CPU, as the GPU has no room for it")
    if machine.get("engine_args", {}).get("trust_remote_code"):
        parts.append("code in the model's folder is run (--engine-arg trust_remote_code)")
    return f"Loading the language model on {machine['found']}: {'; '.join(parts)}."


def replay_line(model: str, file: str) -> str:
    """Whose answers a replay gives, in one sentence."""
    return f"Recorded: every answer of {model} comes from {file}. No language model is asked."


def scores_table(summary: Summary) -> Table:
    """One row a score; the policy is part of its name, so a table never leaves out which K it used.

    Where responses abstained or are unscored, means are given both ways: without them, and with them as 0.
    """
    title = f"{summary.method}: {many(summary.responses, 'response')}, {many(summary.claims, 'claim')}"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    both_ways = bool(summary.responses_abstained or summary.responses_unscored)
    # In a narrow terminal names are folded, then intervals between their ends: a number that is cut reads as another one.
    table.add_column("score", overflow="fold")
    for column, whole in (("value", True), ("sd", True), ("95 % interval", False), ("n", True)):
        table.add_column(column, justify="right", no_wrap=whole)
    if both_ways:
        table.add_column("with\nunscored\nas 0", justify="right")
    for result in summary.scores:
        interval = f"{result.ci[0]:.3f} - {result.ci[1]:.3f}" if result.ci else ""
        value = number(result.value) or "unscored"
        cells = [result.name, value, number(result.sd), interval, str(result.n)]
        table.add_row(*cells, *([number(result.value_with_zeros)] if both_ways else []))
    return table


def reasons_of_unscored(summary: Summary) -> list[Text]:
    """Why scores have no value: each reason once, with the scores that it concerns."""
    names: dict[str, list[str]] = {}
    for result in summary.scores:
        if result.value is None and result.reason:
            names.setdefault(result.reason, []).append(result.name)
    return [line(f"Unscored ({reason}): {', '.join(concerned)}.", "yellow") for reason, concerned in names.items()]


def number(value: float | None) -> str:
    """Three decimals, or nothing."""
    return "" if value is None else f"{value:.3f}"


def verdicts_line(summary: Summary) -> Text:
    """Counts of verdicts that occur, and of responses without a score."""
    counts = [f"{count} {label.replace('_', ' ')}" for label, count in summary.verdicts.items() if count]
    said = f"Claims: {', '.join(counts) or 'none'}."
    kinds = (
        ("abstained", summary.responses_abstained),
        ("unscored", summary.responses_unscored),
        ("failed", summary.responses_failed),
    )
    unscored = [f"{count} {kind}" for kind, count in kinds if count]
    unread = summary.usage.get("extract", {}).get("lines_unparsed", 0)
    rare = {flag: count for flag, count in summary.flags.items() if count and flag not in common_flags(summary)}
    flags = [f"{FLAG_WORDS[Flag(flag)]} ({count:,})" for flag, count in rare.items()]
    flagged = f" Flagged verdicts: {', '.join(flags)}." if flags else ""
    lines = f" Lines of the extractor's answers that could not be read: {unread:,}." if unread else ""
    return line(said + flagged + (f" Responses: {', '.join(unscored)}." if unscored else "") + lines)


def responses_table(assessments: Sequence[Assessment]) -> Table:
    """One row a response of a run."""
    table = Table(title="Responses (localfact show RUN ID for one of them)", title_justify="left")
    for column in ("id", "status"):
        table.add_column(column, overflow="fold")
    for column in ("claims", "supported", "contradicted", "other", "annotated precision"):
        table.add_column(column, justify="right")
    for assessment in assessments:
        counts = tally(assessment)
        others = len(assessment.claims) - counts.supported - counts.contradicted
        cells = map(str, (len(assessment.claims), counts.supported, counts.contradicted, others))
        table.add_row(one_line(assessment.response_id), assessment.status, *cells, number(precision_annotated(assessment)))
    return table


def assessment_view(assessment: Assessment, whole: Assessment | None = None, common: Collection[Flag] = ()) -> RenderableType:
    """One response: its text with its claims marked by number and verdict, then each claim with its best passage.

    Args:
        common: flags that mark no claim of the run.
        whole: the response of which this has some claims only; they keep their numbers in it, and the text is left out.
    """
    head = line(assessment.response_id, "bold")
    if assessment.prompt:
        head.append(line(f"  {assessment.prompt}", "dim"))
    parts: list[RenderableType] = [head]
    if assessment.error:
        parts.append(line(f"Failed: {assessment.error}", "bold red"))
    if assessment.status == "abstained":
        parts.append(line(no_claims(assessment), "yellow"))
    elif is_coherence_alone(assessment):
        parts += _coherence_part(assessment)
    else:
        if whole is None and any(claim.spans for claim in assessment.claims):
            parts += [mark_text(assessment), *without_place(assessment)]
        parts.append(verdicts_grid(assessment, (whole or assessment).claims, common))
        parts += _coherence_part(assessment) if whole is None else []
    if whole is None and (citations := citations_view(assessment)) is not None:
        parts.append(citations)
    if whole is None and assessment.recall is not None:
        parts.append(recall_view(assessment.recall))
    if dropped := count_dropped_sentences(assessment):
        parts.append(line(f"Sentences skipped, as they state no claim: {dropped}", "dim"))
    if assessment.unparsed:
        parts.append(tell_unparsed_lines(assessment.unparsed))
    parts += [line(f"Note: {warning}", "yellow") for warning in assessment.warnings]
    return Group(*parts)


def is_coherence_alone(assessment: Assessment) -> bool:
    """Whether no evidence was read: the text was compared with itself alone."""
    return assessment.coherence is not None and "claims" not in assessment.counts.get("retrieve", {})


def _coherence_part(assessment: Assessment) -> list[RenderableType]:
    return [] if assessment.coherence is None else [Text(), coherence_view(assessment.coherence)]


def mark_text(assessment: Assessment) -> RenderableType:
    """The text; each claim's places in the colour of its verdict, and after the last its number and the verdict's sign."""
    labels = [verdict.label for verdict in assessment.verdicts]
    signs = [sign_of(verdict.label, verdict.posterior) for verdict in assessment.verdicts]
    text = Text()
    for piece in pieces(assessment.text, [claim.spans for claim in assessment.claims]):
        text.append(piece.text, verdict_style(labels[piece.claims[-1]]) if piece.claims else "")
        for claim in piece.ends:
            text.append(f"[{claim + 1}{signs[claim]}]", f"bold {verdict_style(labels[claim])}")
    return Padding(text, (1, 2))


def without_place(assessment: Assessment) -> list[Text]:
    """Which claims are nowhere in the text word by word; nothing where all are."""
    placed = {claim for piece in pieces(assessment.text, [claim.spans for claim in assessment.claims]) for claim in piece.ends}
    nowhere = [str(number) for number in range(1, len(assessment.claims) + 1) if number - 1 not in placed]
    said = f"Not found verbatim in the text: claim{'s' if len(nowhere) > 1 else ''} {', '.join(nowhere)}."
    return [line(said, "dim")] if nowhere else []


def no_claims(assessment: Assessment) -> str:
    """Why a response has no claims: there are none, or the extractor's answer could not be parsed."""
    if assessment.unparsed:
        return "No claim could be read from the extractor's answer. That says nothing about the text."
    return "No checkable claim was found in this text."


def count_dropped_sentences(assessment: Assessment) -> str:
    """How many sentences the extractor took for no claims, by reason: "2 heading, 1 question"; "" for none."""
    counts = assessment.counts.get("extract", {})
    found = {name.removeprefix("dropped_"): count for name, count in counts.items() if name.startswith("dropped_")}
    return ", ".join(f"{count:,} {reason.replace('_', ' ')}" for reason, count in found.items())


def tell_unparsed_lines(lines: Sequence[str]) -> Text:
    """Lines of the extractor's answer that are no claim with a label: how many, and the first of them."""
    shown = [shorten(line, EXCERPT) for line in lines[:UNPARSED_SHOWN]]
    head = f"Lines of the model's answer that could not be read: {len(lines)}"
    return Text("\n  ".join([head, *shown, *(["..."] if len(lines) > UNPARSED_SHOWN else [])]), style="dim")


def verdicts_grid(assessment: Assessment, numbered: Sequence[Claim], common: Collection[Flag] = ()) -> Table:
    """One row a claim: number, verdict, posterior, and the claim with what speaks for the verdict below it.

    Args:
        numbered: the claims by whose order they are numbered, these among them.
    """
    grid = Table.grid(padding=(0, 2))
    grid.add_column(justify="right", no_wrap=True)
    for _ in ("verdict", "posterior", "claim"):
        grid.add_column(overflow="fold")
    numbers = {claim.id: str(number) for number, claim in enumerate(numbered, start=1)}
    passages = {passage.id: passage for passage in assessment.passages}
    for claim, verdict in zip(assessment.claims, assessment.verdicts, strict=True):
        sign, word = sign_of(verdict.label, verdict.posterior), how_clearly(verdict.label, verdict.posterior)
        label = Text(f"{sign} {word}", style=verdict_style(verdict.label))
        posterior = f"{verdict.posterior:.2f}" if verdict.posterior is not None else ""
        lines = [line(claim.text)]
        if verdict.rationale:
            lines.append(line(shorten(verdict.rationale, EXCERPT), "dim"))
        if flags := without_flags(verdict, common):
            lines.append(line(f"Note: {', '.join(FLAG_WORDS[flag] for flag in flags)}", "yellow"))
        shown = [
            one for one in verdict.speaking_passages if one.passage_id in passages and (one.relation or not verdict.rationale)
        ]
        lines += [passage_text(passages[counted.passage_id], claim, counted) for counted in shown]
        grid.add_row(numbers[claim.id], label, posterior, Group(*lines))
    return grid


def passage_text(passage: Passage, claim: Claim, counted: CountedPassage) -> Text:
    """The passage's relation, how far it moves the posterior, its decisive sentence, its source and that sentence's place."""
    sentence = decisive_sentence(passage, claim, counted)
    excerpt = shorten(passage.text[sentence.start : sentence.end] if sentence else passage.text, EXCERPT)
    place = f", at character {sentence.start:,} of {len(passage.text):,}" if sentence and sentence.start else ""
    relation = f"{counted.relation.value} {counted.probability:.2f}" if counted.relation and counted.probability else ""
    if weak := too_weak(counted):
        relation = f"{counted.relation}, {weak}"
    moves = f", moves it by {counted.shift:+.2f}" if relation and counted.shift is not None else ""
    return line(f"{relation}{moves}{'  ' if relation else ''}{excerpt}  [{source_of(passage)}{place}]", "dim")
