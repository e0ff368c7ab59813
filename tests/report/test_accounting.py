"""What a run cost beside the formulas of FastFact's Tables 3 and 6."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from roads import EntailedIsSupported, LineExtractor, OnePassage, WordRelations, responses

from localfact.pipeline import Costs, Pipeline
from localfact.records import Assessment, Claim
from localfact.report.accounting import Accounting, account_for
from localfact.report.accounting_view import accounting_view
from localfact.report.run_figures import CostLine, RunFacts
from localfact.text import sentences

FASTFACT = RunFacts(method="fastfact", stride="max", has_corpus=True, k=10)


def fastfact(**changed):
    return FASTFACT.model_copy(update=changed)


def text(length: int) -> str:
    return " ".join(f"Sentence number {number} is here." for number in range(length))


def use(calls: int, prompt_tokens: int = 0, output_tokens: int = 0) -> dict[str, int]:
    return {"calls": calls, "requests": calls, "prompt_tokens": prompt_tokens, "output_tokens": output_tokens}


def assessment(
    length: int,
    claims: int = 0,
    searched: int = 0,
    *,
    passages: int = 0,
    status: str = "scored",
    usage: Mapping[str, Mapping[str, int]] | None = None,
    counts: Mapping[str, Mapping[str, int]] | None = None,
) -> Assessment:
    counted = {"retrieve": {"passages": passages, "claims": searched}, **(counts or {})}
    return Assessment(
        index=0,
        response_id="r",
        status=status,
        text=text(length),
        claims=tuple(Claim(id=f"c{number}", text="a claim") for number in range(claims)),
        counts={} if status == "failed" else counted,
        usage=usage or {},
    )


def line(found: Accounting, stage: str, what: str = "LLM calls") -> CostLine:
    (one,) = [each for each in found.lines if (each.stage, each.what) == (stage, what)]
    return one


# Two responses of 7 and 3 sentences with 6 and 4 claims, of which 3 and 2 went to evidence; a third failed on its way.
RUN = [
    assessment(
        7,
        6,
        3,
        passages=20,
        usage={"extract": use(3, 900, 120), "verify": use(4, 4_000, 300)},
        counts={"extract": {"chunks_split": 1}, "assess": {"labels_chosen": 1}},
    ),
    assessment(
        3,
        4,
        2,
        passages=10,
        usage={"extract": use(1, 400, 80), "verify": use(1, 1_500, 90)},
        counts={"assess": {"claims_without_evidence": 1}},
    ),
    assessment(9, status="failed", usage={"extract": use(2, 500, 0)}),
]


@pytest.mark.parametrize(("stride", "chunks"), [("max", 2), (1, 10), (2, 6), (3, 4), (7, 2), (100, 2)])
def test_fastfacts_formulas_take_this_runs_figures(stride, chunks):
    found = account_for(RUN, fastfact(stride=stride))
    assert (found.sentences, found.claims, found.searched_share, found.queries_per_claim) == (10, 10, 0.5, 1)
    assert found.stride == stride
    expected = [(each.stage, each.what, each.formula, each.expected) for each in found.lines]
    assert expected == [
        ("extract", "LLM calls", "N/w", chunks),
        ("retrieve", "searches", "pqM", 5),
        ("retrieve", "passages", "5pqM", 25),
        ("verify", "LLM calls", "pM", 5),
        ("total", "LLM calls", "N/w + pM", chunks + 5),
    ]


def test_calls_and_tokens_are_those_sent_failed_responses_included_with_the_reasons_counted():
    found = account_for(RUN, FASTFACT)
    extract, verify, total = line(found, "extract"), line(found, "verify"), line(found, "total")
    assert (extract.sent, extract.prompt_tokens, extract.output_tokens) == (6, 1_800, 200)
    assert (verify.sent, verify.prompt_tokens, verify.output_tokens) == (5, 5_500, 390)
    assert (total.sent, total.prompt_tokens, total.output_tokens) == (11, 7_300, 590)
    assert found.calls_sent == 11
    assert extract.note == "1 chunks split because they or their answers were too long; 2 calls of responses that failed"
    assert verify.note == "1 further calls to read a label from the model; 1 claims without a passage, not asked about"


def test_the_reasons_explain_the_difference_of_verification_whole():
    counts = {"assess": {"labels_chosen": 4, "claims_without_evidence": 2, "failed": 1}}
    found = account_for([assessment(5, 10, 8, usage={"verify": use(9)}, counts=counts)], FASTFACT)
    verify = line(found, "verify")
    assert verify.sent == verify.expected + 4 - 2 - 1


def test_a_stage_that_the_paper_does_not_count_has_a_line_and_is_in_the_total():
    rows = [assessment(2, 3, 1, usage={"extract": use(1), "preverify": use(3, 60), "verify": use(1)})]
    found = account_for(rows, FASTFACT)
    preverify = line(found, "preverify")
    assert (preverify.formula, preverify.expected, preverify.sent, preverify.prompt_tokens) == ("", None, 3, 60)
    assert preverify.note == "not in the paper's formula"
    assert (line(found, "total").expected, line(found, "total").sent) == (2, 5)


def test_claims_that_came_with_the_input_cost_no_extraction():
    rows = [assessment(8, 4, 4, usage={"verify": use(4)}), assessment(5, 2, 2, usage={"extract": use(1), "verify": use(2)})]
    found = account_for(rows, fastfact(stride=5))
    assert (line(found, "extract").expected, line(found, "extract").sent) == (1, 1)
    assert line(found, "extract").note == "1 responses came with their claims"
    earlier = {"extract": {"earlier_calls": 3, "earlier_prompt_tokens": 1200, "earlier_output_tokens": 90}}
    found = account_for([assessment(8, 4, 4, usage={"verify": use(4)}, counts=earlier)], FASTFACT)
    told = "which took 3 calls in an earlier pass (1,200 prompt tokens, 90 output tokens)"
    assert line(found, "extract").note == f"1 responses came with their claims; {told}"
    assert found.calls_sent == 4
    found = account_for(rows, fastfact(stride=5))
    assert found.sentences == 13


def test_searches_of_a_corpus_of_the_web_and_of_none_are_told_apart():
    corpus = account_for(RUN, FASTFACT)
    assert (line(corpus, "retrieve", "searches").sent, line(corpus, "retrieve", "passages").sent) == (5, 30)
    own = account_for(RUN, fastfact(has_corpus=False))
    assert line(own, "retrieve", "searches").sent == 0
    assert line(own, "retrieve", "searches").note == "no corpus: the passages came with the responses"
    fetched = {"retrieve": {"passages": 9, "claims": 2, "searches": 6, "pages": 21}}
    web = account_for([assessment(3, 4, counts=fetched)], fastfact(queries_per_claim=3))
    searches, pages = line(web, "retrieve", "searches"), line(web, "retrieve", "pages")
    assert (searches.expected, searches.sent, pages.expected, pages.sent) == (6, 6, 30, 21)
    assert not searches.note + pages.note


def test_the_other_pipelines_formulas_are_those_of_the_table():
    others = account_for(RUN, fastfact(queries_per_claim=2)).others
    assert [(each.pipeline, each.what, each.formula, each.expected) for each in others] == [
        ("FActScore", "LLM calls", "N + M", 20),
        ("VeriScore", "LLM calls", "N + M", 20),
        ("VeriScore", "searches", "qM", 20),
        ("SAFE", "LLM calls", "N + (3+q)M", 60),
        ("SAFE", "searches", "qM", 20),
    ]


@pytest.mark.parametrize(
    ("version", "formula", "expected"),
    [(1, "O(kn)", 5 * 6), (2, "O(nm)", 4 * 7 + 2 * 3), (3, "O(nm + m^2)", 34 + 49 + 9)],
)
def test_factreasoners_pairs_are_summed_over_the_responses(version, formula, expected):
    rows = [
        assessment(3, 4, 4, passages=7, counts={"relate": {"pairs": 20, "pairs_failed": 0}, "assess": {"pairs_gated": 8}}),
        assessment(2, 2, 2, passages=3, counts={"relate": {"pairs": 6, "pairs_failed": 1}, "assess": {"pairs_gated": 0}}),
    ]
    facts = RunFacts(method=f"builtin-fr{version}", k=5, has_corpus=True, version=version)
    found = account_for(rows, facts)
    pairs = line(found, "relate", "relations")
    assert (pairs.formula, pairs.expected, pairs.sent) == (formula, expected, 26)
    assert pairs.note.startswith("8 pairs gated; 1 pairs failed")
    assert ("m^2 counts 10 passages with themselves" in pairs.note) == (version == 3)
    assert (line(found, "total").formula, line(found, "total").expected, found.calls_sent) == ("0", 0, 0)
    with_model = account_for(rows, facts.model_copy(update={"method": f"factreasoner-fr{version}", "asks_model": True}))
    assert (line(with_model, "total").formula, line(with_model, "total").expected) == ("", None)
    assert found.stride is None


def test_a_method_without_formulas_is_shown_as_sent():
    found = account_for([assessment(3, 4, 2, usage={"guess": use(7, 70, 7)})], RunFacts(method="somebody-elses"))
    assert [(each.stage, each.formula, each.sent) for each in found.lines if each.what == "LLM calls"] == [
        ("guess", "", 7),
        ("total", "", 7),
    ]


@pytest.mark.parametrize("rows", [[], [assessment(3, status="failed")], [assessment(4, status="abstained")]])
@pytest.mark.parametrize("method", ["fastfact", "builtin-fr2", "else"])
def test_a_run_without_claims_has_no_share_and_expects_nothing_of_evidence(rows, method):
    found = account_for(rows, RunFacts(method=method))
    assert (found.claims, found.searched_share, found.calls_sent) == (0, None, 0)
    assert all(not each.expected for each in found.lines)


async def test_a_road_gone_down_is_accounted_for():
    pipeline = Pipeline(LineExtractor(), OnePassage(), WordRelations(), EntailedIsSupported())
    rows = [
        await pipeline.assess(index, response, Costs(), lambda stage, number: None)
        for index, response in enumerate(responses("It is true.\nIt is not.", "So true."))
    ]
    found = account_for(rows, RunFacts(method="builtin-fr2", k=1, has_corpus=True, version=2))
    assert (found.sentences, found.claims, found.searched_share) == (3, 3, 1.0)
    assert (line(found, "relate", "relations").expected, line(found, "relate", "relations").sent) == (3, 3)


@given(st.lists(st.tuples(st.integers(1, 6), st.integers(0, 5), st.integers(0, 5), st.integers(1, 4))), st.integers(1, 7))
def test_the_total_is_the_sum_of_its_lines_and_no_response_shares_a_chunk(rows, stride):
    run = [
        assessment(length, claims, min(claims, searched), usage={"extract": use(calls), "verify": use(searched)})
        for length, claims, searched, calls in rows
    ]
    found = account_for(run, fastfact(stride=stride))
    calls = [each for each in found.lines if each.what == "LLM calls" and each.stage != "total"]
    assert line(found, "total").sent == sum(each.sent for each in calls)
    assert line(found, "total").expected == sum(each.expected or 0 for each in calls)
    alone = [account_for([one], fastfact(stride=stride)) for one in run]
    assert line(found, "extract").expected == sum(line(one, "extract").expected for one in alone)


def test_an_accounting_survives_the_way_to_the_disk_and_back():
    for stride in ("max", 3):
        found = account_for(RUN, fastfact(stride=stride))
        assert Accounting.model_validate_json(found.model_dump_json()) == found


def test_the_table_sets_what_was_sent_beside_the_formula_and_the_others_below():
    console = Console(width=160, record=True)
    console.print(accounting_view(account_for(RUN, fastfact(stride=2))))
    printed = [" ".join(row.replace("│", " ").split()) for row in console.export_text().splitlines()]
    assert "Cost: N = 10 sentences, M = 10 claims, p = 0.50, q = 1, w = 2" in printed
    assert any(row.startswith("total LLM calls N/w + pM 11 11 7,300 590") for row in printed)
    assert "retrieve searches pqM 5 5" in printed
    assert any(row.startswith("retrieve, searches: one a claim") for row in printed)
    assert "SAFE LLM calls N + (3+q)M 50" in printed


def test_the_texts_of_these_tests_have_as_many_sentences_as_they_say():
    assert [len(sentences(text(length))) for length in (0, 1, 7)] == [0, 1, 7]


def test_under_a_grammar_a_label_a_claim_is_part_of_the_formula():
    usage = {"extract": use(1), "preverify": {**use(4, 60), "choices": 4, "mass": 3.0}, "verify": use(1)}
    rows = [assessment(2, 3, 1, usage=usage, counts={"extract": {"duplicates_merged": 1}})]
    found = account_for(rows, fastfact(asks_labels=True))
    preverify, total = line(found, "preverify"), line(found, "total")
    assert (preverify.formula, preverify.expected, preverify.sent, preverify.mass) == ("M", 3, 4, 0.75)
    assert preverify.note == "1 claims asked about that were merged with others"
    assert (total.formula, total.expected, total.sent) == ("N/w + M + pM", 1 + 3 + 1, 6)
    assert line(found, "verify").mass is None


def test_a_label_that_had_to_be_asked_for_does_not_make_all_claims_asked_about():
    rows = [assessment(2, 3, 1, usage={"extract": use(1), "preverify": use(1)})]
    total = line(account_for(rows, RunFacts(method="localfact", cost="N/w + M + pMm", stride="max")), "total")
    assert (total.formula, total.expected, total.sent) == ("N/w + pMm", 1, 2)


def test_given_claims_that_were_asked_about_count_in_the_formula_too():
    rows = [assessment(2, 3, 3, usage={"preverify": use(3), "verify": use(3)})]
    found = account_for(rows, fastfact(asks_labels=True))
    assert (line(found, "preverify").expected, line(found, "preverify").sent) == (3, 3)
    assert (line(found, "total").expected, line(found, "total").sent) == (6, 6)


def test_the_total_of_a_method_that_was_given_its_claims_says_so():
    rows = [assessment(2, 3, 3, usage={"verify": use(3)})]
    total = line(account_for(rows, RunFacts(method="factscore", cost="N + M")), "total")
    assert (total.expected, total.sent, total.note) == (5, 3, "1 responses came with their claims")
