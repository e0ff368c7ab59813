"""How far graphs believe their passages: by hand, and in real runs against their own posteriors and warnings."""

import json
from pathlib import Path

import numpy as np
import pytest

from localfact.api.evaluate import evaluate
from localfact.api.graph import graph
from localfact.api.passage_posteriors import MOST_GRAPHS, evenly_spread, mean_posterior, passage_posteriors
from localfact.inference import marginals
from localfact.inference.reading import read_graph
from localfact.methods.options import Options
from localfact.records import Assessment
from localfact.report.plot_data import PassagePosteriors
from localfact.runs.assessments import read_assessments
from localfact.runs.record import read_run
from localfact.scoring.tally import Unscored

THINGS = ("roof", "door", "wheel", "floor", "tower", "cellar", "window", "stair", "bridge", "kitchen", "chimney", "fence")
CLAIMS = [f"The {thing} of the mill was painted green in 1911." for thing in THINGS]
OPTIONS = Options(relations="lexical", embedder="none")


def row(claims: list[str], passages: list[str], name: str = "mill") -> dict:
    return {
        "id": name,
        "response": " ".join(claims),
        "claims": [{"id": str(at), "text": text} for at, text in enumerate(claims)],
        "passages": [{"text": text, "link": f"https://{at}.example"} for at, text in enumerate(passages)],
    }


def plain(relations: int, probability: float = 0.8, contexts: dict | None = None) -> dict:
    """The graph of two claims and one passage, which entails so many of them."""
    return {
        "variant": "paper",
        "passage_prior": 0.99,
        "atoms": {"claim 0": 0.5, "claim 1": 0.5},
        "contexts": {"passage p": 0.99} if contexts is None else contexts,
        "relations": [
            {"source": "passage p", "target": f"claim {at}", "type": "entailment", "probability": probability}
            for at in range(relations)
        ],
    }


def sized(variables: int | None = None) -> Assessment:
    counts = {} if variables is None else {"assess": {"graph_variables": variables}}
    return Assessment(index=0, response_id="r", status="scored", counts=counts)


#: The passage false fits each claim with weight 0.8, true with 0.5: 0.99 * 0.5 ** 2 against 0.01 * 0.8 ** 2.
BELIEVED = 0.99 * 0.25 / (0.99 * 0.25 + 0.01 * 0.64)


def test_the_posterior_of_a_passage_is_that_of_the_papers_table() -> None:
    assert mean_posterior(sized(3), plain(2), "auto") == (3, pytest.approx(BELIEVED))


def test_a_passage_that_no_relation_touches_counts_with_its_prior() -> None:
    assert mean_posterior(sized(5), plain(2), "auto") == (5, pytest.approx((BELIEVED + 2 * 0.99) / 3))
    assert mean_posterior(sized(4), plain(0, contexts={}), "auto") == (4, pytest.approx(0.99))


def test_a_graph_without_passages_or_without_an_answer_has_none() -> None:
    assert mean_posterior(sized(2), plain(0, contexts={}), "auto") is None
    impossible = plain(1, probability=1.0, contexts={"passage p": 1.0}) | {"atoms": {"claim 0": 0.0}}
    assert mean_posterior(sized(2), impossible, "auto") is None


@pytest.mark.parametrize("method", ["builtin-fr1", "builtin-fr2", "builtin-fr3"])
def test_the_graphs_of_a_run_are_those_it_solved(method: str, tmp_path: Path) -> None:
    rows = [row(CLAIMS[:count], [CLAIMS[0], " ".join(CLAIMS[:2]), "Nothing of that."], f"mill-{count}") for count in (1, 3)]
    evaluate(rows, method=method, options=OPTIONS, out=tmp_path / "run")
    run = read_assessments(tmp_path / "run")
    found = passage_posteriors(read_run(tmp_path / "run"), run)
    assert isinstance(found, PassagePosteriors)
    assert found.variables.tolist() == [one.counts["assess"]["graph_variables"] for one in run]
    assert np.all((found.posteriors > 0.5) & (found.posteriors <= 1))


@pytest.mark.parametrize("tables", ["paper", "balanced"])
def test_a_response_is_below_the_line_exactly_where_the_run_warned(tables: str, tmp_path: Path) -> None:
    options = OPTIONS.model_copy(update={"tables": tables})
    rows = [row(CLAIMS[:count], [" ".join(CLAIMS)], f"mill-{count}") for count in (1, 12)]
    evaluate(rows, method="builtin-fr2", options=options, out=tmp_path / "run")
    run = read_assessments(tmp_path / "run")
    found = passage_posteriors(read_run(tmp_path / "run"), run)
    assert isinstance(found, PassagePosteriors)
    warned = [[f"fell to {mean:.2f}" in one for one in run[at].warnings] for at, mean in enumerate(found.posteriors)]
    assert [any(of_response) for of_response in warned] == (found.posteriors < 0.5).tolist()
    assert (found.posteriors < 0.5).any() == (tables == "paper")


def test_a_passage_beyond_those_that_verdicts_list_is_solved_with_the_others(tmp_path: Path) -> None:
    colours = ("red", "blue", "green")
    claims = [CLAIMS[0], *(f"Its wheel, which turns quickly, was made {colour} by Anna Berg." for colour in colours)]
    passages = [f"{CLAIMS[0]} Somebody wrote {colour} {colour} on page {at}." for colour in colours for at in range(5)]
    evaluate([row(claims, passages)], method="builtin-fr2", options=OPTIONS, out=tmp_path / "run")
    (assessment,) = read_assessments(tmp_path / "run")
    assert len({one.source for one in assessment.relations}) > len(assessment.passages)
    found = passage_posteriors(read_run(tmp_path / "run"), [assessment])
    assert isinstance(found, PassagePosteriors)
    assert found.variables.tolist() == [assessment.counts["assess"]["graph_variables"]]
    (tmp_path / "graph.json").write_text(json.dumps(graph(read_run(tmp_path / "run"), assessment)))
    solved = marginals(read_graph(tmp_path / "graph.json")).marginals
    assert solved is not None
    for claim, verdict in zip(assessment.claims, assessment.verdicts, strict=True):
        assert solved[f"claim {claim.id}"] == pytest.approx(verdict.posterior, abs=1e-9)


def test_progress_is_told_and_a_run_of_no_responses_has_no_graphs(tmp_path: Path) -> None:
    evaluate([row(CLAIMS[:1], CLAIMS[:1])], options=OPTIONS, out=tmp_path / "run")
    told: list[tuple[int, int]] = []
    passage_posteriors(
        read_run(tmp_path / "run"),
        read_assessments(tmp_path / "run"),
        lambda done, total: told.append((done, total)),
    )
    assert told == [(0, 1)]
    assert passage_posteriors(read_run(tmp_path / "run"), []) == Unscored("no factor graphs")


def test_the_graph_that_is_solved_is_the_one_that_show_prints(tmp_path: Path) -> None:
    evaluate([row(CLAIMS[:3], [" ".join(CLAIMS[:3])])], options=OPTIONS, out=tmp_path / "run")
    (assessment,) = read_assessments(tmp_path / "run")
    found = passage_posteriors(read_run(tmp_path / "run"), [assessment])
    assert isinstance(found, PassagePosteriors)
    by_hand = mean_posterior(assessment, graph(read_run(tmp_path / "run"), assessment), "auto")
    assert by_hand == (found.variables[0], found.posteriors[0])


def test_of_many_responses_evenly_spread_ones_are_solved() -> None:
    many = [sized().model_copy(update={"index": at}) for at in range(3 * MOST_GRAPHS)]
    chosen = [one.index for one in evenly_spread(many)]
    assert len(chosen) == MOST_GRAPHS
    assert (chosen[0], chosen[-1]) == (0, 3 * MOST_GRAPHS - 1)
    assert set(np.diff(chosen)) <= {2, 3, 4}
    assert evenly_spread(many[:7]) == many[:7]
