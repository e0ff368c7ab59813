"""Draws the reliability of hosts for a terminal, and as a page: a table, then claims that say why a host fell."""

from rich.console import Group, RenderableType
from rich.padding import Padding

from localfact.report.console import line
from localfact.report.page.rendering import page
from localfact.report.tables import table_of
from localfact.report.trust import Disagreement, HostTrust, TrustReport
from localfact.vocabulary import RelationLabel

#: Hosts in the table of a terminal, hosts whose claims are shown below it, and claims of each.
HOSTS, EXPLAINED, CLAIMS = 30, 10, 3
#: Said where no claim of any host is against the rest.
AGREED = "where the rest of the evidence says something, all of them agree with it"
#: What a host's passage does to a claim.
SAYS = {RelationLabel.CONTRADICTION: "denies", RelationLabel.ENTAILMENT: "says", RelationLabel.EQUIVALENCE: "says"}


def trust_view(report: TrustReport) -> RenderableType:
    """The table of hosts, those that fell the most first, and why."""
    rows = [
        {
            "host": one.host,
            "before": f"{one.before:.2f}",
            "after": f"{one.after:.2f}",
            "passages": one.passages,
            "claims": one.claims,
            "borne out, against, open": f"{one.borne_out}, {one.against}, {one.open}",
        }
        for one in report.hosts[:HOSTS]
    ]
    parts: list[RenderableType] = [table_of(rows)]
    if len(report.hosts) > HOSTS:
        parts.append(line(f"{len(report.hosts) - HOSTS:,} more hosts: --json has all of them", "dim"))
    for host in fallen_hosts(report)[:EXPLAINED]:
        parts.append(
            line(f"{host.host} fell to {host.after:.2f}: {host.against} of {host.claims} claims against the rest", "bold")
        )
        parts += [Padding(line(reason(one)), (0, 0, 0, 2), expand=False) for one in host.why[:CLAIMS]]
    if not fallen_hosts(report):
        against = sum(one.against for one in report.hosts)
        why = f"none is against the rest often enough ({against:,} claims in all)" if against else AGREED
        parts.append(line(f"No host fell: {why}.", "green"))
    return Group(*parts)


def fallen_hosts(report: TrustReport) -> list[HostTrust]:
    """The hosts whose reliability fell, the most first."""
    return [one for one in report.hosts if one.fell]


def reason(one: Disagreement) -> str:
    """Why, in a sentence: what it does to a claim, and what all the others make of it."""
    others = f"; otherwise: {', '.join(one.others)}" if one.others else ""
    return f"{SAYS[one.says]} “{one.claim}” ({one.response_id}), which is true with {one.rest:.2f} by the rest{others}"


def trust_page(report: TrustReport) -> str:
    """The report as one HTML file, with all hosts and all claims that are kept."""
    return page("trust.html", report=report, fallen=fallen_hosts(report), reason=reason)
