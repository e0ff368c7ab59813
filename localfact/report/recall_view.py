"""Key facts of the pages for a terminal: how much of them a text says, then what it omits or contradicts, with the sources."""

from collections.abc import Iterator, Mapping

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from localfact.records import EvidenceRecall, KeyFact
from localfact.report.console import line
from localfact.report.findings import many
from localfact.report.tables import shorten
from localfact.vocabulary import FactVerdict

#: Verdict -> its sign, its words and its style, those that a reader looks for first.
SAID: Mapping[FactVerdict, tuple[str, str, str]] = {
    FactVerdict.OMITTED: ("?", "omitted", "yellow"),
    FactVerdict.CONTRADICTED: ("−", "said otherwise", "red"),
    FactVerdict.PARTLY_SAID: ("(+)", "said in part", "green"),
    FactVerdict.SAID: ("+", "said", "green"),
    FactVerdict.FAILED: ("!", "could not be asked", "bold red"),
}
#: The verdicts whose facts are listed, and the most of them in a terminal.
LISTED = (FactVerdict.CONTRADICTED, FactVerdict.OMITTED, FactVerdict.FAILED)
MOST = 15
#: The most characters of a fact and of a source.
SHOWN, NAMED = 240, 100


def recall_view(found: EvidenceRecall) -> RenderableType:
    """What a text says of the key facts."""
    listed = [fact for verdict in LISTED for fact in found.facts if fact.verdict is verdict]
    parts: list[RenderableType] = [line(recall_headline(found), "bold")]
    parts += [Padding(Group(*_lines(fact)), (0, 0, 0, 2)) for fact in listed[:MOST]]
    if len(listed) > MOST:
        parts.append(line(f"  and {many(len(listed) - MOST, 'further fact')}: --json, or the report of a run, has all", "dim"))
    return Padding(Group(*parts), (1, 0, 0, 0))


def recall_headline(found: EvidenceRecall) -> str:
    """The score and the counts in a line, or why there is none."""
    if found.score is None:
        return f"Key facts of the pages: no figure, as {found.reason or 'none of them could be asked'}"
    told = ", ".join(f"{found.counts[verdict]} {words}" for verdict, (_, words, _) in SAID.items() if found.counts.get(verdict))
    left = f"; {many(found.counts['left_out'], 'lighter fact')} left out" if found.counts.get("left_out") else ""
    if unclear := found.counts.get("unclear"):
        left += f"; {many(unclear, 'further claim')} unclear alone"
    pages = many(found.counts.get("passages", 0), "passage")
    return f"Recall from evidence {found.score:.2f}: of {many(len(found.facts), 'key fact')} in {pages} {told}{left}"


def sources_of(fact: KeyFact) -> str:
    """Its sources by name, and how many hosts they are of, where there are several."""
    names = dict.fromkeys(shorten(one.link or one.title or "a passage without a name", NAMED) for one in fact.sources)
    hosts = f" ({len(fact.hosts)} hosts)" if len(fact.hosts) > 1 else ""
    return f"{', '.join(names)}{hosts}"


def _lines(fact: KeyFact) -> Iterator[Text]:
    sign, words, style = SAID[fact.verdict]
    yield (
        Text(f"{sign} ", style)
        .append(line(f"{words}: {shorten(fact.text, SHOWN)}", style))
        .append(line(f"  [{sources_of(fact)}]", "dim"))
    )
