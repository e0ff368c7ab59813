"""What is wrong with claims, by a scripted judge: labels, places of repetitions, missing statements, what cannot be asked."""

from collections.abc import Mapping, Sequence

import pytest

from localfact.claims.failure_answers import NO_LABEL, REPEATED, read_failures, read_missing
from localfact.claims.failures import CHOICES, FailureJudge, most_alike, repetition
from localfact.llm.engine import Chat
from localfact.llm.scripted import ScriptedEngine
from localfact.records import Claim, Span
from localfact.vocabulary import ClaimFailure, MissingKind

TEXT = "The mill opened in 1911 in Torsk. It is the loveliest. It opened in 1911."


def claim(text: str, part: str | None = None) -> Claim:
    start = TEXT.index(part) if part else 0
    return Claim(id=text, text=text, spans=(Span(start=start, end=start + len(part)),) if part else ())


CLAIMS = [
    claim("The mill opened in 1911.", "The mill opened in 1911"),
    claim("The mill opened in 1911 in Torsk.", "in Torsk"),
    claim("It is the loveliest.", "It is the loveliest."),
    claim("The mill opened in the year 1911.", "It opened in 1911."),
]


async def test_each_claim_gets_its_label_and_repetitions_are_told_apart_by_their_places() -> None:
    labels = ["acceptable", REPEATED, "subjective", REPEATED]

    def choose(chat: Chat, asked: Sequence[str]) -> Mapping[str, float]:
        assert tuple(asked) == CHOICES
        number = int(chat[-1].content.rsplit("claim ", 1)[1].split("?")[0])
        return {labels[number - 1]: 0.9}

    engine = ScriptedEngine(lambda chat: "- The mill has a roof. ###missed###", choose)
    found = await FailureJudge(engine).inspect(TEXT, CLAIMS)
    assert found.failures == (
        ClaimFailure.ACCEPTABLE,
        ClaimFailure.INTRA_SENTENCE,
        ClaimFailure.SUBJECTIVE,
        ClaimFailure.INTER_SENTENCE,
    )
    assert found.missing == (("The mill has a roof.", MissingKind.MISSED),)
    assert len(engine.calls) == len(CLAIMS) + 1
    prompts = [chat[-1].content for chat in engine.calls[: len(CLAIMS)]]
    shared = prompts[0].split("What is wrong")[0]
    assert all(prompt.startswith(shared) for prompt in prompts)  # one prefix serves all


async def test_all_claims_of_a_response_can_be_asked_about_in_one_call_with_reasons() -> None:
    lines = (
        "1. It names mill and year. ###acceptable###",
        "3. A matter of taste. ### Subjective ###",
        "4. ###inter-sentence###",
    )
    said = "\n".join(lines)
    engine = ScriptedEngine(lambda chat: said if "What is wrong with each" in chat[-1].content else "Nothing is missing.")
    found = await FailureJudge(engine, judging="whole").inspect(TEXT, CLAIMS)
    assert found.failures == (ClaimFailure.ACCEPTABLE, None, ClaimFailure.SUBJECTIVE, ClaimFailure.INTER_SENTENCE)
    assert (found.reasons, len(engine.calls)) == ((NO_LABEL,), 2)
    assert read_failures("9. far ###tautology###\n1. a # b ###ambiguous###", 1) == [ClaimFailure.AMBIGUOUS]


async def test_a_claim_that_cannot_be_asked_about_has_no_failure() -> None:
    found = await FailureJudge(ScriptedEngine(window=40)).inspect(TEXT, CLAIMS[:1])
    assert found.failures == (None,)
    assert found.reasons == ("prompt longer than the model takes",) * 2
    assert found.missing is None  # not asked about, which is another thing than nothing missing


def test_a_repetition_is_placed_by_the_earlier_claim_that_is_most_alike() -> None:
    near, far = claim("It is lovely.", "It is the loveliest."), claim("The mill opened in 1911.", "The mill opened in 1911")
    assert most_alike(claim("The mill opened in the year 1911."), [near, far]) == [far]
    assert most_alike(near, []) == []


async def test_a_claim_that_repeats_another_sentence_is_not_placed_by_what_else_stands_in_its_own() -> None:
    beside = claim("There is a day.", "It opened")
    engine = ScriptedEngine(lambda chat: "", lambda chat, asked: {REPEATED: 0.9})
    found = await FailureJudge(engine).inspect(TEXT, [CLAIMS[0], beside, CLAIMS[3]])
    assert found.failures[2] is ClaimFailure.INTER_SENTENCE  # it repeats the first sentence; the other claim is another fact


def test_a_claim_without_a_place_repeats_across_sentences() -> None:
    assert repetition(TEXT, claim("x"), CLAIMS) is ClaimFailure.INTER_SENTENCE


@pytest.mark.parametrize(
    ("answer", "read"),
    [
        ("- A roof is there. ###removed###", [("A roof is there.", MissingKind.REMOVED)]),
        ("1. A roof  is there. ###MISSED###\nNothing else.", [("A roof is there.", MissingKind.MISSED)]),
        ("* A roof is there. # missed", [("A roof is there.", MissingKind.MISSED)]),
        ("- The mill opened in 1911. ###missed###", []),  # it is a claim already
        ("- A. ###missed###\n- a. ###removed###", [("A.", MissingKind.MISSED)]),
        ("Nothing is missing.", []),
        ("- A roof is there.", []),
        ("", []),
        ("#" * 100_000, []),
    ],
)
def test_missing_statements_are_read_with_their_reason_and_nothing_else_is(answer: str, read: list[object]) -> None:
    assert read_missing(answer, ["The mill opened in 1911."]) == read


@pytest.mark.parametrize(
    ("judgment", "read"),
    [
        ("### Judgment\nAcceptable", ClaimFailure.ACCEPTABLE),
        ("**Judgement:** Problematic: Unverifiable Claims - Tautology", ClaimFailure.TAUTOLOGY),
        ("Judgment\n\nProblematic\nUnverifiable Claims - Ambiguous", ClaimFailure.AMBIGUOUS),
        ("x ### Judgment Problematic: Redundant Claims - Intra-sentence redundancy", ClaimFailure.INTRA_SENTENCE),
        ("### Judgment\nProblematic: Redundant Claims", REPEATED),
        ("### Judgment\nProblematic: Subjective or Ambiguous", NO_LABEL),
        ("### Judgment\nUnacceptable", NO_LABEL),
        ("### Judgment\n", NO_LABEL),
    ],
)
def test_a_judgment_of_the_papers_form_is_read_and_one_that_names_two_is_not(judgment: str, read: object) -> None:
    answer = (
        f"Sub-claim 1: The mill is old.\n### Reasoning\nSub-claim 2 is like it.\n{judgment}\nSub-claim 3\n### Reasoning\n..."
    )
    assert read_failures(answer, 1) == [read]


async def test_a_repetition_whose_way_is_not_told_is_placed_by_the_texts() -> None:
    said = "Sub-claim 2\n### Reasoning\nAs above.\n### Judgment\nProblematic: Redundant Claims"
    found = await FailureJudge(ScriptedEngine(lambda chat: said), judging="whole").inspect(TEXT, CLAIMS[:2])
    assert found.failures == (None, ClaimFailure.INTRA_SENTENCE)
