"""Whether `localfact trust` finds hosts that lie, and what its table does to verdicts: on planted liars, and on ConflictNQ.

    python -m scripts.measure_trust [DATA] [--model qwen2.5-coder-1.5b] [--work FOLDER] [--simulate]

--simulate: worlds of hosts, of which some lie, and of a relation model that errs; a row a kind of world, and the last rows are
those where it breaks down. Accuracy is of new responses of the same world, before and after. DATA is the folder of public data
sets: each question of ConflictNQ has pages of PAGES of the HOSTS, drawn by a hash; an honest host tells the real passage, a
lying one the made-up ones, each without a third of the sentences. The claims are the real and the made-up answer, each read
beside every page; "exclusive": the graph is also told that two answers to one question exclude each other, with p = EXCLUSIVE.
Reliability is learned on half of the questions (by a hash), from passages alone; accuracy is of the other half. In brackets
95 % intervals by a bootstrap over worlds, or questions. Answers are kept in FOLDER: nothing is asked twice.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from localfact.api.trust import sourced_response
from localfact.assess.factreasoner import FactReasoner
from localfact.inference.factor_graph import PASSAGE_PRIOR
from localfact.inference.trust import SourcedGraph, estimate_reliability
from localfact.methods.options import Options
from localfact.records import Assessment, Distribution, Pair, Relation, Response
from localfact.scoring.tally import labelled_claims
from localfact.text import sentences
from localfact.vocabulary import RelationLabel
from scripts.assessing import OWN, SOFT, assess, half_of, labelled_response, pairs_of, parser_of
from scripts.labelled_sets import digest, json_lines
from scripts.relation_answers import Answers, asked, calibrate, models_of, name_of
from scripts.tables import markdown_table, mean_of, with_interval

#: Hosts of ConflictNQ, pages of a question, and questions that a language model is asked about.
HOSTS = tuple([f"honest-{place}.example" for place in range(6)] + [f"lying-{place}.example" for place in range(3)])
PAGES, ASKED = 3, 100
#: How surely two answers to one question exclude each other, where the graph is told.
EXCLUSIVE = 0.9
#: Worlds of each kind, and responses that accuracy is measured on.
WORLDS, NEW = 8, 40
HEADS = ("accuracy before", "after", "difference")


@dataclass(frozen=True)
class World:
    """A kind of world.

    Attributes:
        hosts: how many. liars: the share that lies; honest hosts are right 85 to 100 times in 100, liars 5 to 35.
        noise: the share of relations that the relation model turns round.
        responses: of five claims each, to which the pages of four hosts speak, a page to every second claim.
        pages: of a liar in a response, where others have one.
    """

    name: str
    hosts: int = 12
    liars: float = 0.25
    noise: float = 0.15
    responses: int = 40
    pages: int = 1


KINDS = (
    World("12 hosts, 3 of them lie, 15 % of relations wrong, 40 responses"),
    World("100 responses", responses=100),
    World("24 hosts, 6 lie", hosts=24),
    World("5 % of relations wrong", noise=0.05),
    World("liars have 4 pages a response", pages=4),
    World("5 of 12 lie", liars=0.42),
    World("30 % of relations wrong", noise=0.3),
    World("7 of 12 lie", liars=0.58),
)


def main() -> None:
    parser = parser_of(__doc__, "runs/trust", needs_data=False)
    parser.add_argument("--simulate", action="store_true")
    chosen = parser.parse_args()
    if chosen.simulate:
        print(markdown_table(("world", "rank correlation", "liar below honest", *HEADS), [simulated(kind) for kind in KINDS]))
    if chosen.data:
        rows = questions(chosen.data)
        few = rows[:ASKED]
        models = [(options, rows) for options in models_of(None)] + [(options, few) for options in models_of(chosen.model)]
        table = [row for options, some in models for row in of_questions(options, some, chosen.work)]
        print(markdown_table(("relations", "questions", "honest hosts", "lying hosts", *HEADS), table))


def simulated(kind: World) -> list[str]:
    """The row of one kind of world."""
    found = np.array([of_world(kind, seed) for seed in range(WORLDS)])
    return [kind.name, *(with_interval(mean_of(values), WORLDS) for values in found.T)]


def of_world(kind: World, seed: int) -> tuple[float, ...]:
    """Spearman's correlation, how often a liar is below an honest host, accuracy before and after, their difference."""
    drawn = np.random.default_rng(seed)
    liars = round(kind.hosts * kind.liars)
    planted = np.concatenate([drawn.uniform(0.05, 0.35, liars), drawn.uniform(0.85, 1.0, kind.hosts - liars)])
    made = [response_in(kind, planted, drawn) for _ in range(kind.responses + NEW)]
    before = {str(host): PASSAGE_PRIOR for host in range(kind.hosts)}
    after = estimate_reliability([graph for graph, _ in made[: kind.responses]], before).of
    values = np.array([after[str(host)] for host in range(kind.hosts)])
    right = [accuracy_of(made[kind.responses :], reliability) for reliability in (before, after)]
    ranks = float(np.corrcoef(planted.argsort().argsort(), values.argsort().argsort())[0, 1])
    below = float((np.sign(values[liars:, None] - values[None, :liars]) / 2 + 0.5).mean())
    return ranks, below, *right, right[1] - right[0]


def response_in(
    kind: World, planted: NDArray[np.float64], drawn: np.random.Generator
) -> tuple[SourcedGraph, NDArray[np.bool_]]:
    """A response and which of its claims are true: what a page that is wrong says of a claim is the opposite of the truth."""
    truth = drawn.random(5) < 0.6
    relations, hosts = [], {}
    for host in drawn.permutation(kind.hosts)[:4].tolist():
        for page in range(kind.pages if planted[host] < 0.5 else 1):
            name, right = f"{host} {page}", drawn.random() < planted[host]
            hosts[name] = (str(host),)
            for claim in np.flatnonzero(drawn.random(5) < 0.5).tolist():
                says = (truth[claim] == right) != (drawn.random() < kind.noise)
                label = RelationLabel.ENTAILMENT if says else RelationLabel.CONTRADICTION
                sure = drawn.uniform(0.6, 0.97)
                relations.append(Relation(source=name, target=f"claim {claim}", label=label, probability=sure))
    return SourcedGraph({f"claim {place}": 0.5 for place in range(5)}, relations, hosts), truth


def accuracy_of(made: Sequence[tuple[SourcedGraph, NDArray[np.bool_]]], reliability: Mapping[str, float]) -> float:
    """The share of claims on the right side of one half; one that lies on it counts half."""
    found = []
    for graph, truth in made:
        posteriors = graph.posteriors(reliability)
        found += [right_side(posteriors[f"claim {place}"], bool(true)) for place, true in enumerate(truth)]
    return float(np.mean(found))


def right_side(posterior: float, true: bool) -> float:
    """1 for a posterior on the side of the truth, one half for one in the middle, else 0."""
    return 0.5 if abs(posterior - 0.5) < 1e-9 else float((posterior > 0.5) == true)


def questions(data: Path) -> list[Response]:
    """The questions of ConflictNQ, in an order by a hash, each with its pages and the two answers as claims."""
    rows = [row for file in sorted((data / "conflict_nq").glob("*.jsonl")) for row in json_lines(file)]
    found = []
    for row in sorted(rows, key=lambda row: digest(row["id"])):
        drawn = np.random.default_rng(int(digest(row["id"]), 16)).permutation(len(HOSTS))[:PAGES]
        stories = {side: " ".join(one["passage"] for one in row[f"{side}_passages"]) for side in ("real", "fake")}
        passages = []
        for place, host in enumerate(HOSTS[one] for one in drawn):
            text = retold(stories["fake" if host.startswith("lying") else "real"], place)
            passages.append({"link": f"https://{host}/{row['id']}", "text": text})
        claims = [(row["real_answer"], True), (row["fake_answer"], False)]
        found.append(labelled_response(claims, passages, own=True, id=row["id"], prompt=row["cleaned_question"]))
    return found


def retold(text: str, place: int) -> str:
    """A text without every third sentence, from that place on; one of two sentences stays whole."""
    parts = [text[one.start : one.end] for one in sentences(text)]
    return " ".join(part for at, part in enumerate(parts) if len(parts) < PAGES or at % PAGES != place)


def of_questions(options: Options, rows: Sequence[Response], work: Path) -> Iterator[list[str]]:
    """The rows of one relation model."""
    answers = calibrate(options, asked(options, [pair for row in rows for pair in pairs_of(row)], work))
    graph = replace(SOFT if options.model else OWN, version=2)
    for reasoner, told in ((graph, ""), (replace(graph, claim_relations=True), ", exclusive")):
        yield [f"{name_of(options)}{told}", *halves(rows, answers, reasoner)]


def halves(rows: Sequence[Response], answers: Answers, reasoner: FactReasoner) -> Iterator[str]:
    """The cells of a row behind its name."""
    learned, measured = ([row for row in rows if half_of(row.prompt or "") == half] for half in (0, 1))
    graphs = [sourced_response("", one, reasoner).graph for one in judged(learned, answers, reasoner)]
    after = estimate_reliability(graphs, dict.fromkeys(HOSTS, PASSAGE_PRIOR)).of
    yield f"{len(learned)} + {len(measured)}"
    for kind in ("honest", "lying"):
        side = [after[host] for host in HOSTS if host.startswith(kind)]
        yield f"{np.mean(side):.2f} ({min(side):.2f} to {max(side):.2f})"
    ways = (reasoner, replace(reasoner, host_priors=after))
    right = np.array([shares(judged(measured, answers, one)) for one in ways])
    for figures in (right[0], right[1], right[1] - right[0]):
        yield with_interval(mean_of(figures), len(measured))


def judged(rows: Sequence[Response], answers: Answers, reasoner: FactReasoner) -> list[Assessment]:
    """The questions assessed; what their two answers say of one another is given, where the graph is told."""
    excluding = Distribution(entailment=(1 - EXCLUSIVE) / 2, contradiction=EXCLUSIVE, neutral=(1 - EXCLUSIVE) / 2)

    def among(row: Response) -> Answers:
        claims = (row.claims or ()) if reasoner.claim_relations else ()
        return {Pair(one.text, other.text): excluding for one in claims for other in claims if one is not other}

    return assess(rows, answers, reasoner, among)


def shares(found: Sequence[Assessment]) -> list[float]:
    """Of each question, the share of its claims on the right side of one half."""
    return [
        float(np.mean([right_side(verdict.posterior or 0.0, gold) for gold, verdict in labelled_claims(one)])) for one in found
    ]


if __name__ == "__main__":
    main()
