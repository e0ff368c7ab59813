"""Draws findings for a terminal: the contradicted claims of a run, each with the page's sentence and what differs in it."""

from collections.abc import Collection, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from localfact.records import Assessment, Passage
from localfact.report.console import line
from localfact.report.explanations import FLAG_WORDS
from localfact.report.findings import FoundClaim, find_claims, how_clearly, is_weak, without_flags
from localfact.report.marked_text import quote
from localfact.report.palette import MARKS
from localfact.report.whose_pages import tell_provider
from localfact.vocabulary import Flag, VerdictLabel

VERDICT_STYLES = {
    VerdictLabel.SUPPORTED: "green",
    VerdictLabel.CONTRADICTED: "red",
    VerdictLabel.CONFLICTING: "magenta",
    VerdictLabel.FAILED: "bold red",
}
#: The most findings below the headline of a run.
FINDINGS = 10


def findings_view(
    assessments: Sequence[Assessment],
    common: Collection[Flag] = (),
    *,
    verdicts: Collection[VerdictLabel] = (VerdictLabel.CONTRADICTED,),
    most: int | None = FINDINGS,
) -> RenderableType:
    """The claims with these verdicts over all responses as the report has them, the least likely true first; nothing for none.

    Args:
        common: flags that mark none. most: how many are shown at most; None for all.
    """
    found = find_claims(assessments, verdicts)
    parts: list[RenderableType] = [finding_text(one, common) for one in found[:most]]
    if len(parts) < len(found):
        parts.append(line(f"{len(found) - len(parts):,} more: localfact show RUN --only contradicted", "dim"))
    return Group(*parts)


def finding_text(found: FoundClaim, common: Collection[Flag]) -> RenderableType:
    """A finding in lines: how sure and where, what differs, the claim, the page's sentence, its source."""
    claim, label, posterior = found.claim, found.verdict.label, found.verdict.posterior
    head = Text(f"{sign_of(label, posterior)} {how_clearly(label, posterior)}", style=verdict_style(label))
    head.append(f": true with probability {posterior:.2f}" if posterior is not None else "", "dim")
    head.append(line(f"  {found.assessment.response_id}, claim {found.number + 1}", "dim"))
    head.append("".join(f"  ({FLAG_WORDS[flag]})" for flag in without_flags(found.verdict, common)), "yellow")
    if found.counted is None or found.passage is None:
        return Group(head, Padding(line(claim.text), (0, 0, 1, 2), expand=False))
    said, claimed = quote(claim, found.counted, found.passage)
    if claimed is not None:
        other = "".join(text for text, differs in said if differs)
        head.append(line(f"  {claim.text[claimed.start : claimed.end]} / {other}", "bold"))
    page = line("".join(text for text, _ in said)).append(line(f"  [{source_of(found.passage)}]", "dim"))
    return Group(head, Padding(Group(line(claim.text), page), (0, 0, 1, 2), expand=False))


def verdict_style(label: VerdictLabel) -> str:
    """The colour of a verdict in a terminal."""
    return VERDICT_STYLES.get(label, "yellow")


def sign_of(label: VerdictLabel, posterior: float | None) -> str:
    """The sign of a verdict, in brackets where it is weak."""
    return f"({MARKS[label].sign})" if is_weak(label, posterior) else MARKS[label].sign


def source_of(passage: Passage) -> str:
    """A passage's address, date, who found it, and on how many further pages it stands."""
    source = passage.links[0] if passage.links else passage.title
    further = [f"and {len(passage.links) - 1} more"] if len(passage.links) > 1 else []
    return ", ".join(filter(None, [source, passage.date, *further, tell_provider(passage)]))
