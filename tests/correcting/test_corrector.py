"""What is corrected and what is not: each safeguard, with a relation model that answers by a table."""

import asyncio
from collections.abc import Mapping, Sequence

from localfact.assess.factreasoner import FactReasoner
from localfact.correcting import corrector as module
from localfact.correcting.asking import ModelWriter, read_change, runs
from localfact.correcting.corrector import Corrector
from localfact.correcting.reassessing import KnownClaims, KnownEvidence
from localfact.correcting.records import Correction
from localfact.llm.scripted import ScriptedEngine
from localfact.pipeline import Costs, Pipeline, ignore_reports
from localfact.records import Claim, Distribution, Evidence, Hit, Pair, Passage, Response, Span, passage_id
from localfact.vocabulary import VerdictLabel


class ByTable:
    """Entails the claims that are true, says nothing of the silent ones, and contradicts all others."""

    identity = "table"

    def __init__(self, true: Sequence[str], silent: Sequence[str] = ()) -> None:
        self.true, self.silent = true, silent

    async def relate(self, pairs: Sequence[Pair]) -> Sequence[Distribution]:
        return [self._of(pair.hypothesis) for pair in pairs]

    def _of(self, claim: str) -> Distribution:
        side = {True: (0.95, 0.0), False: (0.0, 0.95)}[claim in self.true] if claim not in self.silent else (0.0, 0.0)
        return Distribution(entailment=side[0], contradiction=side[1], neutral=1 - sum(side))


def corrected(
    text: str,
    said: str,
    true: Sequence[str],
    *,
    claims: Mapping[str, str] | None = None,
    silent: Sequence[str] = (),
    topic: str | None = None,
    answer: str | None = None,
) -> Correction:
    """The correction of a text by one passage. `claims`: their words -> those of the text that they are taken from."""
    passage = Passage(id=passage_id(said), text=said, title="The page", links=("https://a.example/page",))
    claims = claims or {text: text}
    found = tuple(
        Claim(id=f"c{number}", text=claim, spans=(Span(start=text.index(words), end=text.index(words) + len(words)),))
        for number, (claim, words) in enumerate(claims.items(), start=1)
    )
    evidence = Evidence(
        passages=(passage,), hits={claim.id: (Hit(passage_id=passage.id, rank=1, score=1.0),) for claim in found}
    )
    judge = FactReasoner(2, tables="balanced", rules="own")
    pipeline = Pipeline(KnownClaims(found), KnownEvidence(evidence), ByTable(true, silent), judge)
    writer = None if answer is None else ModelWriter(ScriptedEngine(lambda chat: answer, guided=True))

    async def run() -> Correction:
        response = Response(id="r", text=text, topic=topic)
        assessed = await pipeline.assess(0, response, Costs(), ignore_reports)
        return await Corrector(pipeline, writer).correct(assessed, Costs(), ignore_reports)

    return asyncio.run(run())


def test_an_edit_has_its_place_its_source_and_what_it_changed() -> None:
    done = corrected("The mill opened in 1879.", "It was 1876 when the mill opened.", ["The mill opened in 1876."])
    (edit,) = done.edits
    assert done.text == "The mill opened in 1876."
    assert (edit.old, edit.new, edit.place, edit.by) == ("1879", "1876", Span(start=19, end=23), "value")
    assert edit.source.title == "The page"
    assert edit.source.url == "https://a.example/page"
    assert edit.source.quote == "It was 1876 when the mill opened."
    assert edit.before is not None
    assert edit.after is not None
    assert edit.before < 0.5 < edit.after
    assert done.precision == (0.0, 1.0)
    assert "-The mill opened in 1879." in done.diff
    assert "+The mill opened in 1876." in done.diff


def test_an_edit_that_is_not_likelier_true_than_false_is_not_made() -> None:
    done = corrected("The mill opened in 1879.", "The mill opened in 1876.", [])
    assert (done.text, done.edits) == (done.original, ())
    assert "more likely" in done.left[0].reason


def test_a_supported_claim_is_not_touched() -> None:
    text = "The mill opened in 1879 with six wheels."
    claims = {"The mill opened in 1879.": text, "The mill had six wheels.": text}
    true = ["The mill opened in 1876.", "The mill had six wheels."]
    done = corrected(text, "The mill opened in 1876 with six wheels.", true, claims=claims)
    assert done.text == "The mill opened in 1876 with six wheels."
    assert done.reassessed.claims[1].text == "The mill had six wheels."
    assert [verdict.label for verdict in done.reassessed.verdicts] == [VerdictLabel.SUPPORTED] * 2


def test_words_that_a_supported_claim_has_stay() -> None:
    text = "The mill opened in 1879 with six wheels."
    claims = {"The mill opened in 1879.": text, "Six wheels came in 1879.": text}
    true = ["The mill opened in 1876.", "Six wheels came in 1879."]
    done = corrected(text, "The mill opened in 1876.", true, claims=claims)
    assert done.text == text
    assert done.left[0].reason == module.SUPPORTED_THERE


def test_a_claim_in_other_words_than_the_text_is_left_with_the_reason() -> None:
    text = "It opened a year after the war."
    done = corrected(text, "The mill opened in 1876.", ["The mill opened in 1876."], claims={"The mill opened in 1879.": text})
    assert done.text == text
    assert "reworded" in done.left[0].reason


def test_the_same_wrong_value_is_mended_at_each_of_its_places_and_once_where_claims_share_one() -> None:
    text = "The mill opened in 1879. So 1879 saw the mill open."
    claims = {
        "The mill opened in 1879.": "The mill opened in 1879.",
        "The old mill opened in 1879.": "The mill opened in 1879.",
        "In 1879 the mill opened.": "So 1879 saw the mill open.",
    }
    true = ["The mill opened in 1876.", "The old mill opened in 1876.", "In 1876 the mill opened."]
    done = corrected(text, "The mill opened in 1876.", true, claims=claims)
    assert done.text == "The mill opened in 1876. So 1876 saw the mill open."
    assert [edit.claims for edit in done.edits] == [("c1", "c2"), ("c3",)]


def test_of_two_edits_of_the_same_words_one_is_made() -> None:
    text = "The mill opened in 1879 with 1879 sacks."
    claims = {
        "The mill opened in 1879.": "The mill opened in 1879",
        "The mill of Anna Lund opened in 1879.": "The mill opened in 1879",
    }
    true = ["The mill opened in 1876.", "The mill of Anna Lund opened in 1866."]
    said = "The mill opened in 1876. The mill of Anna Lund opened in 1866."
    done = corrected(text, said, true, claims=claims)
    assert len(done.edits) == 1
    assert [one.reason for one in done.left] == [module.OVERLAPS]


def test_a_name_is_exchanged_with_its_title_and_what_the_text_is_about_keeps_its_own() -> None:
    text = "Dr Anna Lund was helped by Dr Ole Berg."
    true = ["Dr Anna Lund was helped by Dr Siv Moe."]
    done = corrected(text, "Anna Lund had one helper, Dr Siv Moe.", true, topic="Anna Lund")
    assert done.text == "Dr Anna Lund was helped by Dr Siv Moe."


def test_the_language_model_is_asked_where_no_rule_mends_and_writes_the_claims_words_alone() -> None:
    text = "As told, the jury accepted the design (sources differ)."
    claims = {"The jury accepted the design.": "the jury accepted the design"}
    true = ["The jury rejected the design."]
    said = "The jury turned the design down."
    assert not corrected(text, said, true, claims=claims).edits
    done = corrected(text, said, true, claims=claims, answer="accepted => rejected")
    assert done.text == "As told, the jury rejected the design (sources differ)."
    assert done.edits[0].by == "model"


def test_an_answer_that_names_what_neither_source_nor_claim_has_is_none() -> None:
    claim, source = "Ned drove the cart in 1901.", "Wilf drove the cart in 1902."
    assert read_change("Ned => Wilf", claim, source) == (0, 3, "Wilf")
    for answer in ("Ned => it was Hugo", "1901 => 1950", "Otto => Wilf", "nothing", "Ned =>", "the => a\nb"):
        assert read_change(answer, claim, source) is None


def test_only_words_that_stand_once_in_a_claim_can_be_named() -> None:
    named = list(runs("The dog bit the dog."))
    assert "bit" in named
    assert "dog" not in named
