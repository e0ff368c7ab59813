"""When a run is as the paper's, and what is named where a difference to the paper's figures means nothing."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from run_builders import assessment

from localfact.methods.options import Options
from localfact.methods.wiring import configure
from localfact.papers.comparison import SETTINGS, Recorded, clauses_of, departures, names_of, read_setting, record_run
from localfact.papers.printed_tables import printed_table
from localfact.prompts import prompt_hashes
from localfact.records import Assessment, Claim, Evidence, Hit, Response

TABLE = printed_table("10")
MODEL = {"model": "llama-3.1-70b", "revision": "1605565b47bb9346c5515c34102e054115b4f98b", "dtype": "bfloat16"}
AS_PUBLISHED: Mapping[str, Any] = {
    "method": "factreasoner-fr2",
    "evidence": {"corpus": "0", "passages": "pages", "k": 3, "queries": "claim", "merge_near_duplicates": False},
    "assessment": {"version": 2, "tables": "paper", "passage_prior": 0.99, "solver": "wmb", "relations": "llm+p_star=raw"},
    "model": MODEL,
    "prompts": {"relation": "of-the-paper"},
}


def changed(place: str, value: object) -> dict[str, Any]:
    """The published settings with another value in one place."""
    part, _, name = place.partition(".")
    held = AS_PUBLISHED[part]
    return {**AS_PUBLISHED, part: {**held, name: value} if name else value}


def biographies(responses: int = 157, claims: int = 31, supported: int = 20) -> list[Assessment]:
    gold = "s" * supported + "n" * (claims - supported)
    return [assessment("S" * claims, index=at, gold=gold) for at in range(responses)]


WHOLE = biographies()


def recorded(settings: Mapping[str, Any] = AS_PUBLISHED, runs: Sequence[Assessment] = WHOLE, **more: Any) -> Recorded:
    return record_run(settings, runs, scores=("F1@K(median=31)",), **more)


def told(run: Recorded, table: str = "10") -> str:
    return clauses_of(departures(run, printed_table(table)))


def test_a_run_with_the_papers_data_model_and_settings_departs_in_nothing() -> None:
    assert departures(recorded(), TABLE) == []


@pytest.mark.parametrize(
    ("place", "value", "name", "said"),
    [
        ("assessment.tables", "balanced", "tables", "tables: balanced, not paper"),
        ("assessment.passage_prior", 0.9, "prior", "prior: 0.9, not 0.99"),
        ("assessment.hosts", {"example.org": 0.3}, "priors of hosts", "priors of hosts: not as published"),
        ("assessment.solver", "auto", "solver", "solver: auto, not wmb"),
        ("assessment.factors", "soft", "factors", "factors: soft, not hard"),
        ("assessment.gate", 0.8, "gate of pairs", "gate of pairs: 0.8"),
        ("assessment.relation_map", {"model": "x"}, "calibration", "calibration: not as published"),
        ("assessment.relations", "llm+reading=2", "p*", "normalised over the three labels"),
        ("assessment.relations", "albert-vitaminc@1+bfloat16", "precision", "albert-vitaminc in bfloat16, not float32"),
        ("assessment.relations", "lexical@1", "model", "relations by lexical"),
        ("evidence.k", 5, "k", "5 passages a claim from the corpus, not 3"),
        ("evidence.merge_near_duplicates", True, "near-duplicates merged", "not as published"),
        ("model", {**MODEL, "model": "llama-3.1-8b", "revision": "f" * 40}, "model", "judged by llama-3.1-8b"),
        ("model", {**MODEL, "quantisation": "fp8"}, "precision", "in fp8 bfloat16, not bfloat16"),
        ("prompts", prompt_hashes("relation"), "prompts", "prompts of our own (relation)"),
        ("method", "builtin-fr2", "method", "a method of our own"),
    ],
)
def test_each_setting_that_is_not_the_papers_is_named(place: str, value: object, name: str, said: str) -> None:
    found = departures(recorded(changed(place, value)), TABLE)
    assert names_of(found) == name
    assert said in clauses_of(found)


def test_the_papers_model_is_known_under_another_name_by_its_revision_and_its_encoder_by_its_card() -> None:
    assert departures(recorded(changed("model", {**MODEL, "model": "my-folder"})), TABLE) == []
    assert departures(recorded(changed("assessment.relations", "albert-vitaminc@1+float32+window=512")), TABLE) == []


def test_what_is_looked_up_is_where_a_run_records_it() -> None:
    plain = configure("builtin-fr2", Options()).settings.plain()
    written = [one for one in SETTINGS if one.unwritten is None and one.value is not None]
    assert [one.place for one in written if read_setting(plain, one.place) is None] == []
    ours = "model, method, tables, solver, rules of verdicts, gate of pairs"
    assert names_of(departures(record_run(plain, WHOLE), TABLE)) == ours


def test_means_are_held_against_what_is_printed_whole() -> None:
    more = [*biographies(80), *biographies(77, claims=30)]  # 30.51, printed as 31
    assert told(recorded(runs=more)) == ""
    assert told(recorded(runs=biographies(claims=30))) == "30.0 labelled claims a response, not 31"
    assert told(recorded(runs=biographies(supported=19))) == "19.0 supported claims a response, not 20"


def test_fewer_responses_are_told_and_those_without_labels_do_not_count() -> None:
    assert told(recorded(runs=WHOLE[1:])) == "156 responses with labelled claims, not 157"
    assert told(recorded(runs=[*WHOLE[1:], assessment(failed=True)])) == "156 responses with labelled claims, not 157"


def test_more_passages_a_claim_than_the_paper_retrieved_are_told() -> None:
    hits = tuple(Hit(passage_id=f"p{rank}", rank=rank, score=1.0) for rank in range(1, 6))
    given = [Response(id="r", text="x", claims=(Claim(id="c", text="c"),), evidence=Evidence(hits={"c": hits}))]
    assert told(recorded(given=given)) == "up to 5 passages a claim, not 3"
    assert told(recorded(changed("evidence.k", 5), given=given), "11") == ""


def test_texts_that_were_not_read_at_once_are_told() -> None:
    first = WHOLE[0].model_copy(update={"counts": {"relate": {"pairs_in_windows": 4}}, "decided_by_window": 4096})
    found = departures(recorded(runs=[first, *WHOLE[1:]]), TABLE)
    assert names_of(found) == "window"
    assert "4 pairs longer" in clauses_of(found)
    assert "1 responses that the model's window" in clauses_of(found)


def test_data_that_come_as_prompts_are_held_against_their_count_and_their_writer() -> None:
    answers = [one.model_copy(update={"model": "gpt-4o"}) for one in biographies(200, claims=22)]
    run = record_run(changed("evidence.k", 5), answers, scores=("F1@K(22)",))
    assert told(run, "6") == "responses of gpt-4o, not of llama-3.3-70b-instruct"
    assert "K of F1@K: 22, not median" in told(run, "15")
    written = [one.model_copy(update={"model": "llama-3.3-70b"}) for one in answers]
    assert told(record_run(changed("evidence.k", 5), written, scores=("F1@K(22)",)), "6") == ""


def test_an_assessor_without_a_graph_is_held_against_what_it_has() -> None:
    settings = {**AS_PUBLISHED, "method": "factscore", "assessment": {"judge": "factscore"}}
    assert told(recorded(settings), "12") == ""
