"""What was found of the reliability of hosts, and why: the data that `localfact trust` shows and writes."""

from collections.abc import Mapping

from localfact.records import Record
from localfact.records.responses import Count, Probability
from localfact.vocabulary import RelationLabel

#: A reliability that fell by less did not change.
LEAST_FALL = 0.005


class Disagreement(Record):
    """A claim of which a host says something else than what the rest bears out.

    Attributes:
        run, response_id, claim_id: where it stands. claim: its text.
        says: what the host's passage does to it. probability: of that relation.
        rest: P(claim is true) by all passages but this host's.
        others: hosts that say the opposite of it, the surest first.
    """

    run: str
    response_id: str
    claim_id: str
    claim: str
    says: RelationLabel
    probability: Probability
    rest: Probability
    others: tuple[str, ...] = ()


class HostTrust(Record):
    """One host.

    Attributes:
        before, after: its reliability: what its passages' prior was in the runs, and what was found.
        passages: how many texts of it speak to a claim; a text that others have, too, counts in full for each.
        responses: in which they stand.
        claims: of these responses, that it speaks to: borne out by the rest, against it, or open, where the rest does not say.
        why: claims against the rest, the clearest first.
    """

    host: str
    before: Probability
    after: Probability
    passages: Count
    responses: Count
    claims: Count
    borne_out: Count
    against: Count
    open: Count
    why: tuple[Disagreement, ...] = ()

    @property
    def fell(self) -> bool:
        """Whether its reliability did."""
        return self.after < self.before - LEAST_FALL


class TrustReport(Record):
    """The reliability of the hosts of some runs.

    Attributes:
        runs: the folders. responses: whose graphs were used. repeated: that an earlier run has, too, and are not used again.
        hosts: those that fell the most first.
        table: host -> prior, as `eval --hosts` reads it.
        unknown: passages without a known host, which count with the prior of passages in general.
        strength: how many passages the prior counts as. rounds: made. change: the largest in the last.
        warnings: what a reader must know.
    """

    runs: tuple[str, ...]
    responses: Count
    repeated: Count
    hosts: tuple[HostTrust, ...]
    table: Mapping[str, Probability]
    unknown: Count
    strength: float
    rounds: Count
    change: float
    warnings: tuple[str, ...] = ()
