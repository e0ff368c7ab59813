"""The sets of claims and evidence, read from small files in the sets' own formats."""

import csv
import gzip
import io
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from scripts.data_sets import answer_sets, page_sets
from scripts.data_sets.evidence_sets import by_beginning, each_once, evidence_sets, shares_text, shown_texts
from scripts.data_sets.examples import CONTRADICTION, ENTAILMENT, LABELS, NEUTRAL, Example
from scripts.data_sets.licences import LICENCES
from scripts.data_sets.texts import as_claim, detokenised, partners

PROMPT, CLAIM = "Tell me about the Vellmar bridge.", "The Vellmar bridge opened in 1911."
TRUE = "The mayor of Vellmar opened the bridge on 4 May 1911 before a large crowd."
FALSE = (TRUE.replace("1911", "1921"), TRUE.replace("mayor", "bishop"), TRUE.replace("bridge", "tunnel"))
PREFIX = "Vellmar lies on the river Ost. It had a ferry for four hundred years. "


def write(file: Path, rows: Iterable[dict[str, Any]]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    file.write_bytes(gzip.compress(content) if file.suffix == ".gz" else content)


def write_stances(data: Path, stances: Iterable[tuple[str, str]], **sentence: Any) -> None:
    part = {"claims": [CLAIM], "decontext": CLAIM, "revised_decontext": "", "sentence_factuality_label": True}
    part |= {"claims_factuality_label": [True], "revised_claims": [""], "auto_evidence": [], "stance_claim_autoEvid": []}
    rows = [{"prompt": PROMPT, "sentences": [part | sentence]}]
    write(data / "factcheck_gpt/factcheck-GPT-benchmark.jsonl.gz", rows)
    pairs = [{"claim": CLAIM, "evidence": evidence, "stance": stance} for evidence, stance in stances]
    write(data / "factcheck_gpt/subtask3_claim_evidence_stance.jsonl", pairs)


def write_wice(data: Path, supporting: list[list[int]], label: str, page: list[str]) -> None:
    row = {
        "label": label,
        "supporting_sentences": supporting,
        "claim": CLAIM,
        "evidence": page,
        "meta": {"claim_title": "Vellmar"},
    }
    for part, rows in (("claim_dev", [row]), ("claim_test", []), ("non_supported_tokens", [])):
        write(data / f"wice/{part}.jsonl.gz", rows)


def write_expertqa(data: Path, support: str, evidence: list[str], claim: str = CLAIM + " [2]") -> None:
    judged = {"support": support, "correctness": "Definitely correct", "worthiness": "Yes"}
    claims = [{"claim_string": claim, "evidence": evidence} | judged]
    write(data / "expertqa/expertqa_answers.jsonl.gz", [{"question": PROMPT, "answers": {"one": {"claims": claims}}}])


def write_factor(file: Path, *prefixes: str) -> None:
    stream = io.StringIO(newline="")
    table = csv.writer(stream)
    table.writerow(["full_prefix", "completion", "contradiction_0", "contradiction_1", "contradiction_2"])
    table.writerows([prefix, TRUE, *FALSE] for prefix in prefixes)
    content = stream.getvalue().encode()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(gzip.compress(content) if file.suffix == ".gz" else content)


def write_conflict(data: Path, real: str = "The bridge was opened in 1911 .", fake: str = "The bridge is a song .") -> None:
    row = {"question": "vellmar bridge opening", "cleaned_question": "When did the bridge open?"}
    row |= {"real_short_answer": real, "fake_short_answer": fake}
    passages = {"real_passages": [{"passage": "It opened in 1911 ."}], "fake_passages": [{"passage": "A song ."}] * 2}
    write(data / "conflict_nq/conflict_nq_val.jsonl", [row | passages])
    write(data / "conflict_nq/conflict_nq_test.jsonl", [])


def write_wikicontradict(data: Path, contradiction: str = "Explicit") -> None:
    row: dict[str, Any] = {"question": "When did it open?", "contradiction_type": contradiction}
    for side, year in (("1", 1911), ("2", 1921)):
        row[f"context{side}"] = f"It opened in {year}."
        row[f"context{side}_self_contained"] = f"The Vellmar bridge opened in {year}."
        row[f"context{side}_info"] = f"The bridge is of iron. It opened in {year}.[inconsistent]"
        row[f"answer{side}_self_contained"] = f"The year of the opening was {year}."
    write(data / "wikicontradict/wiki_contradict_refined.jsonl", [row])


def write_factcg(data: Path) -> None:
    rows = [{"text_a": "Orla is a painter. She lives in Tam.", "text_b": ["A painter lives in Tam."], "orig_label": 1}]
    rows.append({"text_a": "Orla is a person. She lives in Tam.", "text_b": ["A painter lives in Tam."], "orig_label": 0})
    write(data / "factcg/cg2c_doc.jsonl", rows)


def write_symmetric(data: Path) -> None:
    texts = {
        "a": ("Orla Venn is a painter .", "Orla Venn -LRB- born 1950 -RRB- paints ."),
        "b": ("Tam is wet .", "Tam has rain ."),
    }
    pairs = [(claim, evidence, verdict) for claim, evidence in texts.values() for verdict in ("SUPPORTS",)]
    pairs.append((texts["a"][0], "Orla Venn sings .", "REFUTES"))
    rows = [{"claim": claim, "evidence": evidence, "gold_label": verdict} for claim, evidence, verdict in pairs]
    write(data / "fact_verification/fever_symmetric_dev.jsonl", rows)
    write(data / "fact_verification/fever_symmetric_test.jsonl", [])


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One row or two of every set, and a biography that nothing may be trained on."""
    write_stances(tmp_path, [("It opened in 1911.", "completely-support"), ("A ferry.", "irrelevant")])
    write_wice(tmp_path, [[1]], "supported", ["Vellmar.", "The bridge opened in 1911.", "It is of iron. " * 30])
    write_expertqa(tmp_path, "Complete", ["[2] https://bridges.example/vellmar\n\n" + CLAIM + " It is of iron." * 10])
    write_factor(tmp_path / "factor/expert_factor.csv", "Question: Which bridge is old?\nAnswer: " + PREFIX)
    write_factor(tmp_path / "factor/news_factor.csv.gz", PREFIX, "Brakel is a port. " + PREFIX)
    write_conflict(tmp_path)
    write_wikicontradict(tmp_path)
    write_symmetric(tmp_path)
    write_factcg(tmp_path)
    for name in ("wikipedia", "google"):
        biography = {"output": "He acted.", "contexts": [{"text": "", "snippet": "He acted."}]}
        (tmp_path / "flaherty").mkdir(exist_ok=True)
        (tmp_path / f"flaherty/flaherty_{name}.json").write_text(json.dumps(biography))
    return tmp_path


def labels(examples: Iterator[Example]) -> list[tuple[str, str]]:
    return [(example.kind, example.label) for example in examples]


def test_every_set_is_read_and_has_a_licence(data: Path) -> None:
    assert {example.set for example in evidence_sets(data)} == set(LICENCES) - {"snli", "mnli", "taxinli", "cad", "conjnli"}


def test_every_example_is_well_formed(data: Path) -> None:
    for example in evidence_sets(data):
        assert example.premise.strip()
        assert example.hypothesis.strip()
        assert len(example.premise) <= 4_000
        assert example.label in LABELS
        assert example.topics
        assert all(line in example.premise for line in example.focus.split("\n"))


def test_the_order_is_the_same_each_time(data: Path) -> None:
    assert list(evidence_sets(data)) == list(evidence_sets(data))


def test_a_snippet_judged_in_two_ways_is_left_out_and_one_judged_twice_is_there_once(data: Path) -> None:
    stances = [("A.", "refute"), ("A.", "irrelevant"), ("B.", "refute"), ("B.", "refute"), ("C.", "partially-support")]
    write_stances(data, stances)
    single = [example for example in answer_sets.stances(data) if example.set == "stance"]
    assert [(one.premise, one.kind, one.label) for one in single] == [
        ("B.", "snippet", CONTRADICTION),
        ("C.", "partial", NEUTRAL),
    ]


def test_joined_snippets_keep_the_one_that_decides_when_not_all_fit(data: Path) -> None:
    write_stances(data, [*((f"{number} " * 900, "irrelevant") for number in range(1, 9)), ("It opened in 1911.", "refute")])
    (joined,) = (example for example in answer_sets.stances(data) if example.set == "stance_joined")
    assert (joined.label, joined.focus, len(joined.premise) <= 4_000) == (CONTRADICTION, "It opened in 1911.", True)
    assert joined.focus in joined.premise
    assert "\n" in joined.premise


def test_a_false_claim_is_contradicted_by_the_corrected_answer_and_its_correction_entailed(data: Path) -> None:
    right = "The Vellmar bridge opened in 1912."
    write_stances(data, [], claims_factuality_label=[False], revised_claims=[right], revised_decontext=right)
    found = [(example.hypothesis, example.label, example.focus) for example in answer_sets.answers(data)]
    assert found == [(CLAIM, CONTRADICTION, right), (right, ENTAILMENT, right)]


@pytest.mark.parametrize(
    ("label", "kind", "expected"), [("supported", "supported", ENTAILMENT), ("partially_supported", "partial", NEUTRAL)]
)
def test_wice_rests_on_the_closest_supporting_sentences(data: Path, label: str, kind: str, expected: str) -> None:
    page = ["One.", "Two.", "Three.", "Four. " * 100]
    write_wice(data, [[], [0, 2], [1, 2]], label, page)
    around, beyond = page_sets.wice(data)
    assert (around.kind, around.label, around.focus) == (kind, expected, "Two.\nThree.")
    assert (beyond.kind, beyond.label, beyond.premise) == ("elsewhere", NEUTRAL, page[3])


def test_expertqa_keeps_only_whole_support_that_has_the_words_of_the_sentence(data: Path) -> None:
    address, padding = "[2] https://bridges.example/vellmar\n\n", " It is of iron." * 10
    write_expertqa(data, "Complete", [address + "Nothing." * 20, address + CLAIM + padding])
    (example,) = answer_sets.expertqa(data)
    assert (example.premise, example.hypothesis, example.label) == (CLAIM + padding, CLAIM, ENTAILMENT)
    for support, evidence in (("Incomplete", CLAIM + padding), ("Complete", "Nothing." * 20), ("Complete", "")):
        write_expertqa(data, support, [address + evidence])
        assert list(answer_sets.expertqa(data)) == []


def test_news_give_no_completion_away_by_itself(data: Path) -> None:
    found = [example for example in page_sets.factor_news(data) if example.kind == "false completion told"]
    assert [(example.hypothesis == TRUE, example.label) for example in found[:2]] == [
        (False, ENTAILMENT),
        (True, CONTRADICTION),
    ]
    assert all(TRUE not in example.premise and example.focus in FALSE for example in found)


def test_news_before_the_completion_say_nothing_of_it(data: Path) -> None:
    (found, _) = (example for example in page_sets.factor_news(data) if example.kind == "text before")
    assert (found.premise, found.hypothesis, found.label) == (PREFIX.strip(), TRUE, NEUTRAL)


def test_an_article_longer_than_a_passage_keeps_its_last_sentences(data: Path) -> None:
    write_factor(data / "factor/news_factor.csv.gz", "It rained that day. " * 300)
    found = next(page_sets.factor_news(data))
    assert len(found.premise) <= 4_000
    assert found.premise.startswith("It rained")
    assert found.premise.endswith(TRUE)


def test_the_topic_of_an_expert_is_the_question(data: Path) -> None:
    assert {example.topics for example in page_sets.factor_expert(data)} == {("Which bridge is old?",)}


def test_an_answer_that_is_no_sentence_makes_no_pair(data: Path) -> None:
    assert labels(answer_sets.conflict_nq(data)) == [
        *(("real passage", ENTAILMENT), ("fake passage", CONTRADICTION)),
        *(("fake passage", ENTAILMENT), ("real passage", CONTRADICTION)),
    ]
    write_conflict(data, fake="A song about a bridge")
    assert labels(answer_sets.conflict_nq(data)) == [("real passage", ENTAILMENT), ("fake passage", CONTRADICTION)]


def test_contradictions_that_need_reasoning_are_left_out(data: Path) -> None:
    every = labels(page_sets.wikicontradict(data))
    assert {label for _, label in every} == {ENTAILMENT, CONTRADICTION}
    write_wikicontradict(data, "Implicit (reasoning required)")
    assert labels(page_sets.wikicontradict(data)) == [pair for pair in every if pair[1] == ENTAILMENT]


def test_marks_of_wikipedia_are_gone(data: Path) -> None:
    assert not [example for example in page_sets.wikicontradict(data) if "[" in example.premise]


def test_the_counterpart_of_a_sentence_is_never_taken_for_another_case(data: Path) -> None:
    neutral = {(one.premise, one.hypothesis) for one in page_sets.fever_symmetric(data) if one.label == NEUTRAL}
    assert neutral == {("Tam has rain.", "Orla Venn is a painter."), ("Orla Venn (born 1950) paints.", "Tam is wet.")}


def test_a_pair_with_two_labels_is_left_out_and_any_other_is_there_once() -> None:
    def example(hypothesis: str, label: str) -> Example:
        return Example("stance", "snippet", "Tam has rain.", hypothesis, label, ("Tam",))

    one, *others = example("A", ENTAILMENT), example("A", ENTAILMENT), example("B", NEUTRAL), example("B", CONTRADICTION)
    assert list(each_once([one, *others])) == [one]


def test_a_shared_sentence_of_eight_words_is_found_inside_another_text() -> None:
    shown = by_beginning(["Short one here. The old bridge of Vellmar was opened in May 1911."])
    premise = "They say: the old bridge, of Vellmar, was opened in May 1911 by the mayor."
    example = Example("stance", "snippet", premise, CLAIM, ENTAILMENT, ("Vellmar",))
    assert shares_text(example, shown)
    assert shares_text(example._replace(premise="-", hypothesis=premise), shown)
    assert not shares_text(example._replace(premise=premise.replace("1911", "1912")), shown)
    assert not shares_text(example._replace(premise="Short one here."), shown)


def test_what_repeats_a_sentence_of_the_shipped_sample_is_left_out(data: Path) -> None:
    before = len(list(evidence_sets(data)))
    page = next(text for text in shown_texts(data))
    write_stances(data, [(page[:600], "completely-support")])
    found = list(evidence_sets(data))
    assert before > len(found) > 0
    assert not [example for example in found if example.set.startswith("stance")]


def test_partners_are_mutual_and_the_most_alike() -> None:
    assert partners(["a b c", "x y z", "a b d", "x y w", "lonely"]) == {0: 2, 2: 0, 1: 3, 3: 1}


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        ("It 's `` The Wall '' , sung in 1960 -- 61 -LRB- live -RRB- .", 'It\'s "The Wall", sung in 1960–61 (live).'),
        ("They do n't cost $ 5 or .38 of it .", "They don't cost $5 or .38 of it."),
        ("the `` Red `` and the `` Blue '' .", 'the "Red" and the "Blue".'),
        ("a first - person game", "a first-person game"),
    ],
)
def test_tokens_are_put_together_again(tokens: str, text: str) -> None:
    assert detokenised(tokens) == text


@pytest.mark.parametrize(
    ("answer", "claim"),
    [
        ("No, black is a shade of grey.", "Black is a shade of grey."),
        ("It is a shade of grey.", ""),
        ("Towns where the waste of bananas was a hazard.", ""),
        ("Black is grey.", ""),
    ],
)
def test_a_short_answer_is_a_claim_only_where_it_stands_alone(answer: str, claim: str) -> None:
    assert as_claim(answer) == claim


def test_a_claim_whose_document_lacks_a_step_is_open(data: Path) -> None:
    supported, open_claim = page_sets.factcg(data)
    assert (supported.label, open_claim.label) == (ENTAILMENT, NEUTRAL)
    assert not set(supported.topics).isdisjoint(open_claim.topics)
