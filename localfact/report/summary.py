"""Summarises a finished run: counts that add up, scores that name their policy, usage and warnings. This is summary.json."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pydantic import Field

from localfact.records import SCHEMA_VERSION, Assessment, Record
from localfact.records.judged_claims import frame
from localfact.report.accounting import Accounting, account_for
from localfact.report.run_figures import RunFacts
from localfact.report.whose_pages import tell_pages
from localfact.scoring import KPolicy, KPrime, ScoreResult, score, standard_scores
from localfact.text import PathName, path_text
from localfact.vocabulary import Flag, VerdictLabel

NO_PAGE_READ = (
    "None of the web pages that the searches found could be read: claims were judged by the search engines' snippets, or "
    "without evidence. `localfact corpus info` on the corpus counts the reasons."
)
#: The most responses that a warning names.
NAMES_LISTED = 3
#: Counts of which the maximum is given, not the sum.
LARGEST = frozenset({"graph_width"})


class Summary(Record):
    """The summary of a run.

    Attributes:
        run: the run folder as it was named; None for a summary of assessments without one.
        responses: how many rows the input has; the scored are those that are in none of the three counts below.
        no_page_read: whether searches of the web named pages and not one of them could be read.
        pages: whose pages the claims were judged by, in words.
        verdicts: verdict -> number of claims, for every verdict; they add up to `claims`.
        flags: flag -> number of claims whose verdict has it.
        scores: in the order in which they are printed.
        usage: stage -> its counts (passages, pairs asked, gated, ...), summed over responses; of those in LARGEST the maximum.
        accounting: calls and tokens as really sent beside the papers' formulas.
        warnings: each once, with how many responses it concerns where that is more than one.
    """

    schema_version: int = SCHEMA_VERSION
    method: str
    run: PathName | None = None
    responses: int
    responses_abstained: int
    responses_unscored: int
    responses_failed: int
    no_page_read: bool = False
    pages: str = "the pages"
    claims: int
    verdicts: Mapping[str, int]
    flags: Mapping[str, int] = Field(default_factory=dict)
    scores: tuple[ScoreResult, ...]
    usage: Mapping[str, Mapping[str, int]] = Field(default_factory=dict)
    accounting: Accounting
    warnings: tuple[str, ...] = ()

    @property
    def headline(self) -> str:
        """What came out, in a sentence without its end: "3 responses, 88 claims: 40 supported, 8 contradicted"."""
        counts = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in self.verdicts.items() if count)
        responses = f"{self.responses} response{'s' * (self.responses != 1)}"
        claims = f"{self.claims} claim{'s' * (self.claims != 1)}"
        return f"{responses}, {claims}" + (f": {counts}" if counts else "")

    def __repr__(self) -> str:
        """One line: the method, how many claims have which verdict, the precision, and the run folder."""
        precision = next((f"; {one.name} {one.value:.3f}" for one in self.scores if one.value is not None), "")
        folder = "" if self.run is None else f"; {path_text(self.run)}"
        return f"<Summary of {self.method}: {self.headline}{precision}{folder}>"

    __str__ = __repr__

    def _repr_html_(self) -> str:
        """A short form of the report, for notebooks: counts, scores and warnings; no scripts."""
        scores = "; ".join(f"{one.name} {one.value:.3f}" for one in self.scores if one.value is not None)
        failed = f"{self.responses_failed} responses failed." if self.responses_failed else ""
        where = "" if self.run is None else f"{path_text(self.run)}: report.html there shows every claim with its evidence."
        return frame(f"{self.method}: {self.headline}", filter(None, (scores, failed, *self.warnings, where)))


def summarise(
    assessments: Sequence[Assessment],
    facts: RunFacts,
    *,
    run: str | None = None,
    recall_k: KPolicy | None = None,
    k_prime: KPrime | None = None,
    warnings: Sequence[str] = (),
) -> Summary:
    """Summarises assessments.

    Args:
        assessments: of one run, in the order of the input.
        facts: of its settings.
        run: the run folder, for the reader.
        recall_k: the K of R@K and F1@K; the median when None.
        k_prime: the K' of R@K' and F1@K', where several runs shall have one; else that of these assessments.
        warnings: of the run itself, before those of the responses.
    """
    costs, usage = account_for(assessments, facts), usage_of(assessments)
    statuses = Counter(assessment.status for assessment in assessments)
    flags = Counter(flag for assessment in assessments for verdict in assessment.verdicts for flag in verdict.flags)
    return Summary(
        method=facts.method,
        run=run,
        responses=len(assessments),
        responses_abstained=statuses["abstained"],
        responses_unscored=statuses["unscored"],
        responses_failed=statuses["failed"],
        no_page_read=no_page_read(usage),
        pages=tell_pages(assessments, facts.of_sample),
        claims=sum(len(assessment.claims) for assessment in assessments),
        verdicts=count_verdicts(assessments),
        flags={flag.value: flags[flag] for flag in Flag},
        scores=score(assessments, standard_scores(assessments, recall_k, k_prime), seed=facts.seed),
        usage=usage,
        accounting=costs,
        warnings=(
            *warnings,
            *([NO_PAGE_READ] if no_page_read(usage) else []),
            *mass_warnings(costs, facts),
            *warnings_of(assessments),
        ),
    )


def count_verdicts(assessments: Iterable[Assessment]) -> dict[str, int]:
    """Verdict -> number of claims, for every verdict."""
    labels = Counter(verdict.label for assessment in assessments for verdict in assessment.verdicts)
    return {label.value: labels[label] for label in VerdictLabel}


def no_page_read(counts: Mapping[str, Mapping[str, int]]) -> bool:
    """Whether searches named pages and not one of them could be read, by the counts of the stages."""
    named, missed = (counts.get("retrieve", {}).get(name, 0) for name in ("pages", "pages_failed"))
    return 0 < named == missed


def mass_warnings(costs: Accounting, facts: RunFacts) -> Iterator[str]:
    """A warning for each stage whose labels the model would hardly have written."""
    for line in costs.lines:
        if line.mass is not None and facts.warn_mass is not None and line.mass < facts.warn_mass:
            yield (
                f"In the stage '{line.stage}', the model gave all labels together a probability of {line.mass:.2g} on average; "
                f"below {facts.warn_mass:g}, its confidences mean little."
            )


def usage_of(assessments: Sequence[Assessment]) -> dict[str, dict[str, int]]:
    """Stage -> name -> sum over the responses, or their maximum."""
    usage: dict[str, dict[str, int]] = {}
    for assessment in assessments:
        for stage, counts in assessment.counts.items():
            sums = usage.setdefault(stage, {})
            for name, count in counts.items():
                sums[name] = max(sums.get(name, 0), count) if name in LARGEST else sums.get(name, 0) + count
    return usage


def warnings_of(assessments: Sequence[Assessment]) -> list[str]:
    """Each warning once, in the order of its first appearance; failures last, with their reasons."""
    times = Counter(warning for assessment in assessments for warning in assessment.warnings)
    lines = [f"{warning} ({count} responses)" if count > 1 else warning for warning, count in times.items()]
    failures: dict[str, list[str]] = {}
    for assessment in assessments:
        if assessment.error:
            failures.setdefault(assessment.error, []).append(assessment.response_id)
    return lines + [f"Failed: {list_names(names)}: {reason}" for reason, names in failures.items()]


def list_names(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    more = len(names) - NAMES_LISTED
    return ", ".join(names[:NAMES_LISTED]) + (f" and {more} more" if more > 0 else "")
