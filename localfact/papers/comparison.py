"""What of a run is not the paper's, read from what the run recorded: then a difference to a printed figure means nothing.

The one place that says what FactReasoner's runs were: SETTINGS for what run.yaml states as it is, a function each for what
must be worked out. Each departure has a name, which stands beside the number, and a clause, which stands below the table.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from localfact.models.cards import list_cards
from localfact.papers.printed_tables import PrintedTable, printed_table
from localfact.prompts import prompt_hashes
from localfact.records import Assessment, Record, Response
from localfact.vocabulary import GoldLabel

JUDGED = (GoldLabel.SUPPORTED, GoldLabel.NOT_SUPPORTED)
#: A mean number of claims is printed as a whole number.
ROUNDED = 0.5
#: A data set of which all claims are true.
ALL_TRUE = "Conflicts"
#: Where passages are from -> how many a claim has (section 4; of Conflicts one for it and one against it).
PASSAGES: Mapping[str, int] = {"Wikipedia": 3, "Google Search": 5}
CONFLICTING_PASSAGES = 2
#: Who wrote the responses of data sets that come as prompts (section 4).
WRITER = "llama-3.3-70b-instruct"
#: Our cards of encoders -> their names in the paper.
ENCODERS: Mapping[str, str] = {"albert-vitaminc": "albert-xlarge-vitaminc-mnli"}
#: The precision that weights are published in, and computed in by the paper as far as it says: language models, encoders.
PRECISION, ENCODER_PRECISION = "bfloat16", "float32"
#: The relation model that is a language model; also the beginning of its identity.
ASKED = "llm"
RAW = "p_star=raw"


class Departure(NamedTuple):
    """Something that is not the paper's. `clause` goes into "not comparable: ..."."""

    name: str
    clause: str


class Published(NamedTuple):
    """A setting that the paper's runs have.

    Attributes:
        name: for readers.
        place: where run.yaml has it.
        value: the paper's.
        unwritten: what holds where run.yaml leaves it out.
        where: it only counts where run.yaml has something in this place.
    """

    name: str
    place: str
    value: Any
    unwritten: Any = None
    where: str = ""


#: Tables, priors and relations: section 3; solver: section 4; passages: section 4.
SETTINGS = (
    Published("tables", "assessment.tables", "paper", where="assessment.tables"),
    Published("prior", "assessment.passage_prior", 0.99, where="assessment.tables"),
    Published("priors of hosts", "assessment.hosts", {}, {}),
    Published("solver", "assessment.solver", "wmb", "auto", where="assessment.tables"),
    Published("factors", "assessment.factors", "hard", "hard"),
    Published("rules of verdicts", "assessment.rules", "published", "published"),
    Published("gate of pairs", "assessment.gate", None),
    Published("calibration", "assessment.relation_map", None),
    Published("calibration", "assessment.truth_map", None),
    Published("second opinion", "assessment.second_opinion", None),
    Published("near-duplicates merged", "evidence.merge_near_duplicates", False, where="evidence.corpus"),
    Published("kind of passages", "evidence.passages", "pages", where="evidence.corpus"),
    Published("search", "evidence.queries", "claim", where="evidence.corpus"),
    Published("reranker", "evidence.reranker", None),
)


class Recorded(Record):
    """What a run recorded that is held against the paper.

    Attributes:
        settings: those of run.yaml, in plain values.
        golds: the labels of each response's claims, of responses that have claims.
        responses: how many there are.
        writers: who wrote them, as far as they say.
        most_passages: the most of a claim; None where that is not known.
        in_windows: pairs of texts that were read in several windows. cut: responses that the model's window split or cut.
        recall_k: the K of F1@K, as scores print it: "median=31".
    """

    settings: Mapping[str, Any]
    golds: Sequence[Sequence[GoldLabel | None]]
    responses: int
    writers: frozenset[str] = frozenset()
    most_passages: int | None = None
    in_windows: int = 0
    cut: int = 0
    recall_k: str = ""


def record_run(
    settings: Mapping[str, Any],
    assessments: Sequence[Assessment],
    *,
    given: Sequence[Response] = (),
    scores: Sequence[str] = (),
) -> Recorded:
    """What a run recorded.

    Args:
        settings: of its run.yaml.
        assessments: all of them.
        given: the responses as they were read, where they are at hand: they say how many passages each claim has.
        scores: names of its scores, for the K of F1@K.
    """
    evidence = [response.evidence for response in given if response.evidence is not None]
    return Recorded(
        settings=settings,
        golds=[[claim.gold for claim in one.claims] for one in assessments if one.claims],
        responses=len(assessments),
        writers=frozenset(one.model for one in assessments if one.model),
        most_passages=max((len(hits) for one in evidence for hits in one.hits.values()), default=None),
        in_windows=sum(one.counts.get("relate", {}).get("pairs_in_windows", 0) for one in assessments),
        cut=sum(one.decided_by_window is not None for one in assessments),
        recall_k=next((one[5:-1] for one in scores if one.startswith("F1@K(")), ""),
    )


def departures(run: Recorded, printed: PrintedTable) -> list[Departure]:
    """All that is known to differ between the run and the runs of a printed table; [] where nothing is.

    Whether the passages are the same cannot be checked: the paper prints no figures of them.
    """
    return [one for find in FINDERS for one in find(run, printed)]


def names_of(found: Sequence[Departure]) -> str:
    """The names of departures, each once."""
    return ", ".join(dict.fromkeys(one.name for one in found))


def clauses_of(found: Sequence[Departure]) -> str:
    """The clauses of departures."""
    return "; ".join(one.clause for one in found)


def read_setting(settings: Mapping[str, Any], place: str, unwritten: Any = None) -> Any:
    """What run.yaml has in a place ("assessment.tables"); `unwritten` where it has nothing."""
    found: Any = settings
    for part in place.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return unwritten if found is None else found


def data_set_facts(printed: PrintedTable) -> dict[str, float] | None:
    """Column -> figure of FactReasoner's Table 2 ("#prompts", "#atoms", ...) for a table's data set; None where it has none."""
    table = printed_table("2")
    for row in table.rows:
        if printed.paper == table.paper and row[0] == printed.data_set:
            return {name: cell for name, cell in table.figures(row).items() if isinstance(cell, int | float)}
    return None


def recall_of(printed: PrintedTable) -> str:
    """The K of F1@K in a table: 22 throughout in Tables 6 to 9 (section 4.2), the median elsewhere (Table 2)."""
    return "22" if printed.paper == "FactReasoner" and printed.number in ("6", "7", "8", "9") else "median"


def is_model(card: str, printed: str) -> bool:
    """Whether a paper's name of a model is that of a card: llama-3.1-70b is llama-3.1-70b-instruct."""
    return bool(card) and (printed == card or printed.startswith(f"{card}-"))


def models_of(printed: PrintedTable) -> set[str]:
    """The models that a table names: in its rows, or a column each, alone or with a score."""
    columns = (part for column in printed.columns for part in (column, column.rpartition(" ")[0]))
    return {*columns, *(printed.names_of(row).get("model", "") for row in printed.rows)} - {""}


def other_data(run: Recorded, printed: PrintedTable) -> Iterator[Departure]:
    """How many responses there are, and how many labelled and supported claims they have on average, by Table 2."""
    facts = data_set_facts(printed)
    if facts is None:
        yield Departure("data", f"nothing is known of {printed.data_set or 'its data'}")
        return
    golds = [[gold for gold in one if gold in JUDGED] for one in run.golds]
    labelled = [one for one in golds if one]
    if "#S*" not in facts:
        if run.responses != facts["#prompts"]:
            yield Departure("data", f"{run.responses} responses, not {facts['#prompts']:g}")
        yield from _mean("claims", [float(len(one)) for one in run.golds], facts["#atoms"])
        if others := sorted(name for name in run.writers if not is_model(name, WRITER)):
            yield Departure("responses", f"responses of {', '.join(others)}, not of {WRITER}")
        return
    if len(labelled) != facts["#prompts"]:
        yield Departure("data", f"{len(labelled)} responses with labelled claims, not {facts['#prompts']:g}")
    yield from _mean("labelled claims", [float(len(one)) for one in labelled], facts["#atoms"])
    supported = [float(one.count(GoldLabel.SUPPORTED)) for one in labelled]
    if printed.data_set == ALL_TRUE:
        if false := sum(map(len, labelled)) - sum(supported):
            yield Departure("data", f"{false:g} of its {sum(map(len, labelled))} claims are not true by their labels")
    else:
        yield from _mean("supported claims", supported, facts["#S*"])


def _mean(what: str, ours: Sequence[float], theirs: float) -> Iterator[Departure]:
    if ours and abs(fmean(ours) - theirs) > ROUNDED:
        yield Departure("data", f"{fmean(ours):.1f} {what} a response, not {theirs:g}")


def other_passages(run: Recorded, printed: PrintedTable) -> Iterator[Departure]:
    """How many passages a claim has, of those given, and of those that a corpus or a search is asked for."""
    published = PASSAGES.get(printed.contexts or "", CONFLICTING_PASSAGES)
    if run.most_passages is not None and run.most_passages > published:
        yield Departure("k", f"up to {run.most_passages} passages a claim, not {published}")
    k = read_setting(run.settings, "evidence.k")
    if read_setting(run.settings, "evidence.corpus") is not None and k != published:
        yield Departure("k", f"{k} passages a claim from the corpus, not {published}")


def other_model(run: Recorded, printed: PrintedTable) -> Iterator[Departure]:
    """Who relates or judges, and in which precision."""
    relations = str(read_setting(run.settings, "assessment.relations", ""))
    encoder = relations.split("@")[0] if relations and not relations.startswith(ASKED) else ""
    if encoder:
        if ENCODERS.get(encoder) not in models_of(printed):
            yield Departure("model", f"relations by {encoder}")
        elif (precision := relations.split("+")[1]) != ENCODER_PRECISION:
            yield Departure("precision", f"{encoder} in {precision}, not {ENCODER_PRECISION}")
        return
    model = read_setting(run.settings, "model", {})
    if not _is_printed(model, printed):
        yield Departure("model", f"judged by {model.get('model') or 'no language model'}")
    precision = " ".join(filter(None, (model.get("quantisation"), model.get("dtype"))))
    if precision not in ("", PRECISION):
        yield Departure("precision", f"the language model in {precision}, not {PRECISION}")


def _is_printed(model: Mapping[str, Any], printed: PrintedTable) -> bool:
    """Whether the table has that model: by its name, or by the name of the card that has its files."""
    revision = str(model.get("revision", "")).split("+")[0]
    cards = [card.name for card in list_cards() if revision and card.revision == revision]
    return any(is_model(name, one) for name in (str(model.get("model", "")), *cards) for one in models_of(printed))


def other_settings(run: Recorded, printed: PrintedTable) -> Iterator[Departure]:
    """What run.yaml states otherwise than the paper's runs had it."""
    method = str(read_setting(run.settings, "method", ""))
    if method.startswith("builtin") or method == "localfact":
        yield Departure("method", "a method of our own")
    for one in SETTINGS:
        if one.where and read_setting(run.settings, one.where) is None:
            continue
        found = read_setting(run.settings, one.place, one.unwritten)
        if found != one.value:
            shown = found if isinstance(found, str | int | float) and not isinstance(found, bool) else "not as published"
            yield Departure(one.name, f"{one.name}: {shown}" + (f", not {one.value}" if shown == found and one.value else ""))


def other_asking(run: Recorded, printed: PrintedTable) -> Iterator[Departure]:
    """The prompts, what p* is normalised by, and texts that were not read at once."""
    relations = str(read_setting(run.settings, "assessment.relations", ""))
    ours = prompt_hashes()
    asked = read_setting(run.settings, "prompts", {})
    if same := [task for task, digest in asked.items() if ours.get(task) == digest]:
        yield Departure("prompts", f"prompts of our own ({', '.join(same)})")
    if relations.startswith(ASKED) and RAW not in relations.split("+"):
        yield Departure("p*", "p* normalised over the three labels (--probability raw takes it as the label's tokens have it)")
    if run.in_windows:
        yield Departure("window", f"{run.in_windows} pairs longer than the model's window, read in several")
    if run.cut:
        yield Departure("window", f"{run.cut} responses that the model's window split or cut")


def other_recall(run: Recorded, printed: PrintedTable) -> Iterator[Departure]:
    """The K of F1@K."""
    published = recall_of(printed)
    if "F1@K" in printed.columns and run.recall_k and run.recall_k.split("=")[0] != published:
        yield Departure("K", f"K of F1@K: {run.recall_k}, not {published}")


FINDERS: tuple[Callable[[Recorded, PrintedTable], Iterator[Departure]], ...] = (
    other_data,
    other_passages,
    other_model,
    other_settings,
    other_asking,
    other_recall,
)
