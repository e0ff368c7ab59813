"""Says whether a file of responses is the data set that a paper used, so that a difference to its figures means something."""

from collections.abc import Iterator, Sequence
from statistics import mean

from localfact.papers.figures import DataSetFacts
from localfact.records import Claim, Response
from localfact.vocabulary import GoldLabel

JUDGED = (GoldLabel.SUPPORTED, GoldLabel.NOT_SUPPORTED)


def departures(responses: Sequence[Response], facts: DataSetFacts) -> list[str]:
    """What tells the responses from the paper's, as clauses for "these are not the paper's data: ..."; empty for nothing.

    Looked at is what the paper states: how many responses carry labelled claims, how many labelled and how many supported
    claims they have on average (both rounded as printed), and how many passages a claim has at most. That the passages are
    the very ones cannot be seen: a paper prints no figure of them.
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
    """The claims that came with the response and that an annotator called supported or not supported."""
    return [claim for claim in response.claims or () if claim.gold in JUDGED]


def own_passages(response: Response) -> list[Sequence[object]]:
    """The passages that came for each claim; nothing where none came."""
    return list(response.evidence.hits.values()) if response.evidence is not None else []
