"""What a reader of a verdict must know: foreign languages, passages read in part, a single source, cut answers."""

from collections.abc import Mapping, Sequence

import pytest

from localfact.assess.flags import Flags
from localfact.records import Claim, CountedPassage, Evidence, Hit, Judgement, Passage, Response, Verdict
from localfact.vocabulary import Flag, RelationLabel, VerdictLabel

CLAIM = Claim(id="a", text="The tower is in Paris.")
ENGLISH = "The tower stands in Paris, and it is 324 metres high."
GERMAN = "Der Turm steht in Paris, und er ist 324 Meter hoch."


def passage(name: str, text: str = ENGLISH, host: str | None = None) -> Passage:
    return Passage(id=name, text=f"{text} {name}", links=(f"https://{host}/{name}",) if host else (), host=host)


def counted(name: str, relation: RelationLabel | None = RelationLabel.ENTAILMENT) -> CountedPassage:
    return CountedPassage(passage_id=name, relation=relation, probability=0.9 if relation else None)


async def flags(
    label: VerdictLabel,
    passages: Sequence[Passage],
    counted_passages: Sequence[CountedPassage],
    *,
    text: str = ENGLISH,
    flagger: Flags | None = None,
    before: Sequence[Flag] = (),
    affinity: Mapping[str, float] | None = None,
) -> set[Flag]:
    verdict = Verdict(claim_id="a", label=label, passages=tuple(counted_passages), flags=tuple(before))
    hits = tuple(Hit(passage_id=one.id, rank=rank, score=1) for rank, one in enumerate(passages, start=1))
    evidence = Evidence(passages=tuple(passages), hits={"a": hits}, affinity={"a": affinity} if affinity else {})
    found = await (flagger or Flags(("en",), ("en",))).flag(
        Response(id="r", text=text), {"a": CLAIM}, Judgement(verdicts=(verdict,)), evidence
    )
    (one,) = found.verdicts
    assert one.label is label
    assert len(set(one.flags)) == len(one.flags)
    return set(one.flags)


TWO = (passage("p", host="a.example"), passage("q", host="b.example"))


async def test_two_sources_in_a_known_language_need_no_flag() -> None:
    assert await flags(VerdictLabel.SUPPORTED, TWO, [counted("p"), counted("q")]) == set()


@pytest.mark.parametrize(
    ("flagger", "text", "other", "flagged"),
    [
        (Flags(("en",), ("en",)), GERMAN, ENGLISH, True),
        (Flags(("en",), None), GERMAN, ENGLISH, True),
        (Flags(None, ("en",)), GERMAN, ENGLISH, True),
        (Flags(None, None), GERMAN, GERMAN, False),
        (Flags(None, ("en",)), ENGLISH, GERMAN, True),
        (Flags(("en",), None), ENGLISH, GERMAN, False),
        (Flags(("en", "de"), ("de", "en")), GERMAN, GERMAN, False),
    ],
)
async def test_a_language_that_the_extractor_or_the_relation_model_does_not_know_is_told(
    flagger: Flags, text: str, other: str, flagged: bool
) -> None:
    passages = (TWO[0], passage("q", other, "b.example"))
    found = await flags(VerdictLabel.SUPPORTED, passages, [counted("p"), counted("q")], text=text, flagger=flagger)
    assert (Flag.UNKNOWN_LANGUAGE in found) == flagged


@pytest.mark.parametrize(
    ("label", "passages", "relations", "flagged"),
    [
        (VerdictLabel.SUPPORTED, TWO, [RelationLabel.ENTAILMENT], True),  # the other was found, and says nothing
        (VerdictLabel.SUPPORTED, TWO, [RelationLabel.ENTAILMENT, RelationLabel.CONTRADICTION], True),
        (VerdictLabel.CONTRADICTED, TWO, [RelationLabel.ENTAILMENT, RelationLabel.CONTRADICTION], True),
        (VerdictLabel.SUPPORTED, TWO[:1], [RelationLabel.ENTAILMENT], False),  # nothing else was found
        (VerdictLabel.SUPPORTED, (TWO[0], passage("r", host="a.example")), [RelationLabel.ENTAILMENT], False),  # nor elsewhere
        (VerdictLabel.SUPPORTED, (passage("s"), passage("t")), [RelationLabel.ENTAILMENT] * 2, False),  # hosts are not known
        (VerdictLabel.SUPPORTED, TWO, [None, None], False),  # a verifier read them
        (VerdictLabel.UNDECIDED, TWO, [RelationLabel.NEUTRAL], False),
        (VerdictLabel.SUPPORTED, (), [], False),  # settled without evidence
    ],
)
async def test_a_verdict_that_one_of_several_sources_found_carries_is_told(
    label: VerdictLabel, passages: Sequence[Passage], relations: Sequence[RelationLabel | None], flagged: bool
) -> None:
    behind = [counted(one.id, relation) for one, relation in zip(passages, relations, strict=False)]
    assert await flags(label, passages, behind) == ({Flag.SINGLE_SOURCE} if flagged else set())


@pytest.mark.parametrize(("match", "flagged"), [(0.6, True), (0.3, False)])
async def test_a_source_about_something_else_is_no_other_source(match: float, flagged: bool) -> None:
    found = await flags(VerdictLabel.SUPPORTED, TWO, [counted("p")], affinity={"p": 0.7, "q": match})
    assert (Flag.SINGLE_SOURCE in found) == flagged


async def test_what_the_assessor_flagged_stays() -> None:
    found = await flags(VerdictLabel.SUPPORTED, TWO, [counted("p"), counted("q")], before=[Flag.CUT_ANSWER])
    assert found == {Flag.CUT_ANSWER}


async def test_a_failed_verdict_has_no_flags() -> None:
    assert await flags(VerdictLabel.FAILED, (), [], text=GERMAN) == set()
