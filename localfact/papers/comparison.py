"""Checks whether a file of responses is the data set of a paper, so that differences to its figures are meaningful."""

from collections.abc import Sequence
from statistics import mean

from localfact.papers.measured_table import ROUNDED, data_set_facts
from localfact.papers.printed_tables import PrintedTable
from localfact.records import Response
from localfact.vocabulary import GoldLabel

JUDGED = (GoldLabel.SUPPORTED, GoldLabel.NOT_SUPPORTED)
#: Passages that the paper retrieved for a claim of its biographies (section 4).
MOST_PASSAGES = 3


def departures(responses: Sequence[Response], printed: PrintedTable) -> list[str]:
    """Differences of the responses from the data of a table, as clauses for "these are not the paper's data: ..."; [] for none.

    Compared are figures of FactReasoner's Table 2: how many responses have labelled claims, how many labelled and how many
    supported claims they have on average; and the most passages of a claim. Whether the passages are the same cannot be
    checked: the paper prints no figures of them.
    """
    facts, found = data_set_facts(printed) or {}, []
    golds = [
        judged
        for response in responses
        if response.problem is None and (judged := [claim.gold for claim in response.claims or () if claim.gold in JUDGED])
    ]
    if len(golds) != facts["#prompts"]:
        found.append(f"{len(golds)} responses with labelled claims, not {facts['#prompts']:g}")
    if golds:
        claims, supported = mean(map(len, golds)), mean(judged.count(GoldLabel.SUPPORTED) for judged in golds)
        for what, ours, theirs in (("labelled", claims, facts["#atoms"]), ("supported", supported, facts["#S*"])):
            if abs(ours - theirs) > ROUNDED:
                found.append(f"{ours:.1f} {what} claims a response, not {theirs:g}")
    evidence = [response.evidence for response in responses if response.evidence is not None]
    most = max((len(hits) for one in evidence for hits in one.hits.values()), default=0)
    if most > MOST_PASSAGES:
        found.append(f"up to {most} passages a claim, not {MOST_PASSAGES}")
    return found
