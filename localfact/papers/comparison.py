"""Checks whether a file of responses is the data set of a paper, so that differences to its figures are meaningful."""

from collections.abc import Iterator, Sequence
from statistics import mean

from localfact.papers.figures import DataSetFacts
from localfact.records import Claim, Response
from localfact.vocabulary import GoldLabel

JUDGED = (GoldLabel.SUPPORTED, GoldLabel.NOT_SUPPORTED)


def departures(responses: Sequence[Response], facts: DataSetFacts) -> list[str]:
    """Differences of the responses from the paper's data, as clauses for "these are not the paper's data: ..."; empty for none.

    Compared are figures that the paper states: how many responses have labelled claims, how many labelled and how many
    supported claims they have on average (both rounded as printed), and the most passages of a claim. Whether the passages are
    the same cannot be checked: a paper prints no figures of them.
    """
    return list(differences(responses, facts))


def differences(responses: Sequence[Response], facts: DataSetFacts) -> Iterator[str]:
    """Each departure."""
    labelled = [judged for response in responses if response.problem is None and (judged := labelled_claims(response))]
    if len(labelled) != facts.responses:
        yield f"{len(labelled)} responses with labelled claims, not {facts.responses}"
    if labelled:
        claims = mean(len(judged) for judged in labelled)
        supported = mean(sum(claim.gold is GoldLabel.SUPPORTED for claim in judged) for judged in labelled)
        for what, found, printed in (("labelled", claims, facts.claims), ("supported", supported, facts.supported)):
            if abs(found - printed) > 0.5:  # printed as a whole number
                yield f"{found:.1f} {what} claims a response, not {printed:g}"
    most = max((len(hits) for response in responses for hits in own_passages(response)), default=0)
    if most > facts.k:
        yield f"up to {most} passages a claim, not {facts.k}"


def labelled_claims(response: Response) -> list[Claim]:
    """The given claims of the response that an annotator labelled supported or not supported."""
    return [claim for claim in response.claims or () if claim.gold in JUDGED]


def own_passages(response: Response) -> list[Sequence[object]]:
    """The given passages of each claim; empty where none were given."""
    return list(response.evidence.hits.values()) if response.evidence is not None else []
