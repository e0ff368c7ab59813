"""The lexical relation model as the road uses it: distributions, directions, independence, odd input, and its shipped files."""

import asyncio
import json
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from localfact.models.cards import load_card
from localfact.models.embedder import Embedder, load_embedder
from localfact.records import Distribution, Pair
from localfact.relations.calibration import FOUND_SHARES
from localfact.relations.lexical import model as model_module
from localfact.relations.lexical.features import Features, Match, compare
from localfact.relations.lexical.model import (
    COEFFICIENTS_FILE,
    FITTED_SHARES,
    IDF_FILE,
    LONGEST_CLAIM,
    LexicalRelationModel,
    Similarity,
    similarity_features,
)
from localfact.relations.lexical.statements import ParsedClaim, Premise, idf_table
from localfact.vocabulary import RelationLabel
from scripts.labelled_sets import hash_of_topic, held_out_topics, json_lines, prompts_of_claims

PAINTER = (
    "Mirela Vantos was a Croatian painter and teacher, born in Split on 3 March 1902. She studied in Vienna and moved to "
    "Zagreb in 1927, where she taught drawing at the Academy of Fine Arts for 19 years. Her largest work is a mural of 40 "
    "square metres in the town hall of Osijek. She was not a member of any party. She died in Zagreb in 1971."
)
LIGHTHOUSE = (
    "The lighthouse on the island stands 35 metres tall. It was built of granite between 1848 and 1851, after two wrecks. "
    "The lamp was lit with whale oil at first, and has been electric for almost a century. Visitors can climb to the gallery "
    "in summer. The last keeper left the island when the light was made automatic."
)


@pytest.fixture(scope="module")
def minilm() -> Embedder:
    return load_embedder(load_card("minilm"))


@pytest.fixture(scope="module", params=["plain", "embedder"])
def model(request: pytest.FixtureRequest) -> LexicalRelationModel:
    return LexicalRelationModel(request.getfixturevalue("minilm") if request.param == "embedder" else None)


def related(model: LexicalRelationModel, *pairs: tuple[str, str]) -> Sequence[Distribution]:
    return asyncio.run(model.relate([Pair(*pair) for pair in pairs]))


@pytest.mark.parametrize(
    "claim",
    [
        "Mirela Vantos was born in Split.",
        "Mirela Vantos was a painter.",
        "Mirela Vantos moved to Zagreb in 1927.",
        "Mirela Vantos died in Zagreb.",
        "Mirela Vantos died in 1971.",
    ],
)
def test_a_claim_that_the_passage_states_is_entailed(model: LexicalRelationModel, claim: str):
    assert related(model, (PAINTER, claim))[0].label is RelationLabel.ENTAILMENT


@pytest.mark.parametrize(
    "claim",
    [
        "Mirela Vantos was born in Trieste.",
        "Mirela Vantos was born in 1911.",
        "Mirela Vantos moved to Zagreb in 1935.",
        "Mirela Vantos moved to Budapest in 1927.",
        "Mirela Vantos did not move to Zagreb in 1927.",
        "Mirela Vantos taught drawing at the Academy of Fine Arts for 31 years.",
        "Mirela Vantos was born in Split on 3 October 1902.",
    ],
)
def test_one_changed_detail_is_contradicted_rather_than_entailed(model: LexicalRelationModel, claim: str):
    relation = related(model, (PAINTER, claim))[0]
    assert relation.contradiction > relation.entailment
    assert relation.entailment < 0.4


@pytest.mark.parametrize(
    "claim",
    [
        "Mirela Vantos wrote four novels.",
        "Mirela Vantos liked to sail along the coast.",
        "The river Drava floods its banks in spring.",
        "Tomas Reuel was born in Split.",
    ],
)
def test_a_claim_that_the_passage_does_not_speak_to_is_neutral(model: LexicalRelationModel, claim: str):
    assert related(model, (PAINTER, claim))[0].label is RelationLabel.NEUTRAL


def test_an_accented_letter_may_be_written_as_two_characters(model: LexicalRelationModel):
    forms = [unicodedata.normalize(form, "José Martínez was born in Évora.") for form in ("NFC", "NFD")]
    same, *others = related(model, *((premise, claim) for premise in forms for claim in forms))
    assert same.label is RelationLabel.ENTAILMENT
    assert others == [same] * 3


def test_an_unrelated_passage_is_neutral_to_every_claim(model: LexicalRelationModel):
    claims = ("Mirela Vantos was born in Split.", "Mirela Vantos died in 1971.")
    assert all(relation.neutral > 0.8 for relation in related(model, *((LIGHTHOUSE, claim) for claim in claims)))


def test_a_passage_does_not_deny_what_it_does_not_speak_of():
    silent, speaking = related(LexicalRelationModel(), (LIGHTHOUSE, "Ostrava was a film."), (LIGHTHOUSE, "It has no lamp."))
    assert silent.contradiction == 0
    assert speaking.label is RelationLabel.CONTRADICTION


def test_a_prediction_does_not_depend_on_the_other_pairs_to_the_last_bit(model: LexicalRelationModel):
    claims = ["Mirela Vantos was born in Split.", "The lighthouse is 35 metres tall.", "", "She taught in Zagreb. " * 40]
    pairs = [(premise, claim) for premise in (PAINTER, LIGHTHOUSE, PAINTER * 12, "") for claim in claims]
    together = related(model, *pairs)
    assert together == related(model, *pairs[::-1])[::-1]
    assert together == [related(model, pair)[0] for pair in pairs]


@pytest.mark.slow
@pytest.mark.parametrize(
    "odd",
    ["", " \n", "\x00", "\ud800", "?!", "word " * 200_000, "x" * 200_000, "東京は日本の首都です。", "1" * 5_000, "ß" * 300],
    ids=["empty", "blank", "nul", "surrogate", "marks", "200,000 words", "one endless word", "japanese", "digits", "sharp s"],
)
def test_odd_texts_on_either_side_are_carried_through(odd: str):
    relations = related(LexicalRelationModel(), (odd, "Ada was born in 1902."), (PAINTER, odd), (odd, odd))
    for relation in relations:
        assert relation.entailment + relation.contradiction + relation.neutral == pytest.approx(1)


def test_an_embedder_does_not_stumble_over_odd_texts_either(minilm: Embedder):
    odd = ["", "\x00", "\ud800", "東京は日本の首都です。"]
    assert (
        len(related(LexicalRelationModel(minilm), *((PAINTER, text) for text in odd), *((text, PAINTER) for text in odd))) == 8
    )


def test_a_pair_without_words_is_neutral():
    assert related(LexicalRelationModel(), ("", "Ada was born in 1902."))[0] == Distribution(
        entailment=0, contradiction=0, neutral=1
    )


def test_text_in_a_script_without_spaces_is_entailed_by_itself_rather_than_by_another():
    own, other = related(
        LexicalRelationModel(),
        ("東京は日本の首都です。人口は多いです。", "東京は日本の首都です。"),
        ("猫が庭で静かに眠っています。", "東京は日本の首都です。"),
    )
    assert own.label is RelationLabel.ENTAILMENT
    assert other.label is RelationLabel.NEUTRAL


@pytest.mark.parametrize(
    ("decided", "label"),
    [
        ("Mirela Vantos moved to Zagreb in 1927.", RelationLabel.ENTAILMENT),
        ("Mirela Vantos moved to Zagreb in 1935.", RelationLabel.CONTRADICTION),
    ],
)
@pytest.mark.parametrize("place", [0, 7, 14])
def test_of_a_passage_as_hypothesis_the_most_decided_sentence_speaks(decided: str, label: RelationLabel, place: int):
    model = LexicalRelationModel()
    sentences = ["The lighthouse on the island is thirty-five metres tall."] * 14
    sentences.insert(place, decided)
    whole = related(model, (PAINTER, " ".join(sentences)))[0]
    alone = related(model, (PAINTER, decided))[0]
    assert len(" ".join(sentences).split()) > LONGEST_CLAIM
    assert whole.label is label
    assert whole == alone.model_copy(update={"windows": 15})


def test_a_passage_of_which_no_sentence_is_spoken_to_is_neutral():
    relation = related(LexicalRelationModel(), (PAINTER, LIGHTHOUSE * 2))[0]
    assert relation.label is RelationLabel.NEUTRAL


def test_a_passage_entails_itself(model: LexicalRelationModel):
    relation = related(model, (PAINTER * 2, PAINTER * 2))[0]
    assert relation.label is RelationLabel.ENTAILMENT


def test_the_distribution_is_the_softmax_of_the_weighed_features_for_the_label_shares_of_found_passages():
    claim = "Mirela Vantos taught sculpture to children."  # no value, which would correct it
    features = compare(Match(ParsedClaim(claim, idf_table()), Premise(PAINTER)))
    rows = json.loads(COEFFICIENTS_FILE.read_text(encoding="utf-8"))["variants"]["plain"]["coefficients"]
    scores = np.array([rows[name] for name in features._fields]).T @ np.array(features) + rows["intercept"]
    relation = related(LexicalRelationModel(), (PAINTER, claim))[0]
    weights = np.exp(scores) * np.array(FOUND_SHARES) / np.array(FITTED_SHARES)
    expected = weights / weights.sum()
    assert (relation.entailment, relation.contradiction, relation.neutral) == pytest.approx(tuple(expected))


def test_similarity_is_that_of_the_best_part():
    premise = np.array([[1.0, 0.0], [0.6, 0.8]], dtype=np.float32)
    hypothesis = np.array([[0.0, 1.0]], dtype=np.float32)
    assert similarity_features(premise, hypothesis) == pytest.approx(Similarity(0.8, 0.3, 0.05), abs=1e-6)


@pytest.mark.slow
@given(st.lists(st.tuples(st.text(max_size=80), st.text(max_size=80)), max_size=4))
def test_every_pair_gets_a_distribution_in_order(pairs: list[tuple[str, str]]):
    relations = related(LexicalRelationModel(), *pairs)
    assert len(relations) == len(pairs)
    for relation in relations:
        assert relation.entailment + relation.contradiction + relation.neutral == pytest.approx(1)


def test_the_identity_names_the_coefficients_and_the_embedder(
    minilm: Embedder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    plain, full = LexicalRelationModel().identity, LexicalRelationModel(minilm).identity
    assert plain == LexicalRelationModel().identity
    assert plain != full
    assert minilm.identity in full
    changed = tmp_path / "idf.txt"
    changed.write_text(IDF_FILE.read_text(encoding="utf-8") + "zyzzyva 4\n", encoding="utf-8")
    monkeypatch.setattr("localfact.relations.lexical.model.IDF_FILE", changed)
    assert LexicalRelationModel().identity != plain


def test_the_coefficients_name_their_features_data_and_held_out_accuracy():
    fitted = json.loads(COEFFICIENTS_FILE.read_text(encoding="utf-8"))
    assert set(fitted["about"]["data"]) == {"snli", "mnli", "cad", "conjnli", "factcheck_gpt", "wice"}
    assert tuple(fitted["variants"]["plain"]["coefficients"]) == (*Features._fields, "intercept")
    assert tuple(fitted["variants"]["embedder"]["coefficients"]) == (*Features._fields, *Similarity._fields, "intercept")
    for variant in fitted["variants"].values():
        assert {"majority", "accuracy", "macro_f1", "calibration_error", "pairs"} <= set(variant["held_out"]["factcheck_gpt"])


def test_the_idf_table_is_small_and_holds_no_rare_word():
    assert IDF_FILE.stat().st_size < 300_000
    rows = IDF_FILE.read_text(encoding="utf-8").splitlines()[1:]
    assert min(int(row.split()[1]) for row in rows) >= 4


@pytest.mark.slow
def test_held_out_accuracy_is_what_the_file_says(shared: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(model_module, "FOUND_SHARES", FITTED_SHARES)
    data = shared / "data"
    reserved = held_out_topics("factcheck_gpt") | held_out_topics("factcheck_gpt development")
    held_out = {claim for claim, prompt in prompts_of_claims(data).items() if hash_of_topic(prompt) in reserved}
    rows = json_lines(data / "factcheck_gpt/subtask3_claim_evidence_stance.jsonl")
    chosen = [row for row in rows if row["claim"] in held_out and row["stance"] != "partially-support"]
    fitted = json.loads(COEFFICIENTS_FILE.read_text(encoding="utf-8"))
    group = "factcheck_gpt"
    relations = related(LexicalRelationModel(), *((row["evidence"], row["claim"]) for row in chosen))
    labels = {
        "completely-support": RelationLabel.ENTAILMENT,
        "refute": RelationLabel.CONTRADICTION,
        "irrelevant": RelationLabel.NEUTRAL,
    }
    right = [relation.label is labels[row["stance"]] for relation, row in zip(relations, chosen, strict=True)]
    stated = fitted["variants"]["plain"]["held_out"][group]
    assert len(chosen) == stated["pairs"]
    assert np.mean(right) == pytest.approx(stated["accuracy"], abs=0.002)


def test_claims_and_passages_are_compared_as_passages_by_an_embedder_that_reads_prefixes(minilm: Embedder) -> None:
    asking = Embedder(minilm.identity, minilm._model, query_prefix="query: ")
    pair = Pair("The lighthouse was lit in 1862.", "In 1862 the lighthouse was lit.")
    models = [LexicalRelationModel(embedder) for embedder in (minilm, asking)]
    assert asyncio.run(models[0].relate([pair])) == asyncio.run(models[1].relate([pair]))
