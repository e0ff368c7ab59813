"""Runs for the report: a small one in which everything occurs, and a hostile one."""

from collections.abc import Sequence

from localfact.api.report import decide_by
from localfact.records import (
    Assessment,
    Claim,
    CountedPassage,
    Distribution,
    Pair,
    Passage,
    PreVerification,
    Relation,
    Span,
    Verdict,
    passage_id,
)
from localfact.report.page.run_page import RunRead
from localfact.report.run_figures import RunFacts
from localfact.report.summary import summarise
from localfact.vocabulary import Flag, GoldLabel, PreVerificationLabel, RelationLabel, VerdictLabel

TEXT = "Ada Lovelace was born in London in 1815. She wrote notes on Babbage's engine.\n\nShe died in Paris."
PAGE = (
    "Lovelace, mathematician. Ada was born in London on 10 December 1815. Her notes were printed in 1843. She died in London."
)
SECOND = "The notes describe how an engine could compute Bernoulli numbers."
#: What would be done where it were taken for anything but text.
HOSTILE = (
    "</script><script>document.title='taken'</script>",
    "<img src=http://127.0.0.1:1/pixel onerror=\"document.title='taken'\">",
    "\u202egnissap\u2066 \x1b[31m \ud800 \x00",
    "x" * 10_000,
    "{{ 7 * 7 }} {% raw %} ${1} `",
    "<!-- <svg onload=alert(1)> -->",
)


def span(text: str, part: str) -> Span:
    """Where a part stands in a text."""
    start = text.index(part)
    return Span(start=start, end=start + len(part))


def passage(text: str, link: str = "https://example.org/ada", **fields: object) -> Passage:
    """A passage of one page."""
    return Passage(**{"id": passage_id(text), "text": text, "links": (link,), "host": "example.org", **fields})


def small_assessment(index: int = 0, identity: str = "ada") -> Assessment:
    """Supported, contradicted (within another claim's place), without a place, and settled without evidence."""
    first, second = passage(PAGE, title="Ada Lovelace", date="2019-01-02"), passage(SECOND, title="Notes")
    born = CountedPassage(
        passage_id=first.id,
        relation=RelationLabel.ENTAILMENT,
        probability=0.9,
        shift=0.4,
        sentence=span(PAGE, "Ada was born in London on 10 December 1815."),
        window=Span(start=0, end=100),
    )
    died = born.model_copy(
        update={
            "relation": RelationLabel.CONTRADICTION,
            "probability": 0.8,
            "shift": -0.3,
            "sentence": span(PAGE, "She died in London."),
        }
    )
    wrote = CountedPassage(passage_id=second.id)
    claims = (
        Claim(
            id="c1", text="Ada Lovelace was born in London in 1815.", spans=(span(TEXT, TEXT[:40]),), gold=GoldLabel.SUPPORTED
        ),
        Claim(id="c2", text="Ada Lovelace was born in 1815.", original="in 1815", spans=(span(TEXT, "in 1815"),)),
        Claim(
            id="c3", text="Ada Lovelace died in Paris.", spans=(span(TEXT, "She died in Paris."),), gold=GoldLabel.NOT_SUPPORTED
        ),
        Claim(
            id="c4",
            text="Ada Lovelace was a countess.",
            preverification=PreVerification(
                label=PreVerificationLabel.UNSURE,
                confidence=0.4,
                distribution=dict.fromkeys(PreVerificationLabel, 1 / 6),
                mass=0.7,
            ),
        ),
    )
    verdicts = (
        Verdict(claim_id="c1", label=VerdictLabel.SUPPORTED, posterior=0.9, passages=(born,), rationale="1 passage entails it"),
        Verdict(claim_id="c2", label=VerdictLabel.SUPPORTED, posterior=0.9, passages=(born,)),
        Verdict(claim_id="c3", label=VerdictLabel.CONTRADICTED, posterior=0.2, passages=(died,), flags=(Flag.SINGLE_SOURCE,)),
        Verdict(
            claim_id="c4", label=VerdictLabel.NOT_ENOUGH_EVIDENCE, passages=(wrote,), rationale="They say nothing of a title."
        ),
    )
    return Assessment(
        index=index,
        response_id=identity,
        id_given=True,
        prompt="Who was Ada Lovelace?",
        topic="Ada Lovelace",
        text=TEXT,
        status="scored",
        claims=claims,
        verdicts=verdicts,
        passages=(first, second),
        relations=(
            Relation(source=first.id, target="c1", label=RelationLabel.ENTAILMENT, probability=0.9),
            Relation(source=first.id, target="c2", label=RelationLabel.ENTAILMENT, probability=0.9),
            Relation(source=first.id, target="c3", label=RelationLabel.CONTRADICTION, probability=0.8),
        ),
        gold_supported=1,
        gold_not_supported=1,
        unparsed=("- a line that is no claim",),
        counts={"extract": {"claims": 4, "dropped_question": 2}},
        warnings=("Something to know.",),
    )


def hostile_assessment(index: int, text: str) -> Assessment:
    """A response in which every text is this one."""
    claim = Claim(id=text, text=text, original=f"{text} ", spans=(Span(start=0, end=len(text)), Span(start=3, end=10**9)))
    page = passage(text, link=f"javascript:document.title='taken'//{text}", title=text, date=text, provider=text)
    counted = CountedPassage(
        passage_id=page.id,
        relation=RelationLabel.CONTRADICTION,
        probability=0.7,
        shift=-0.2,
        sentence=Span(start=1, end=4),
        window=Span(start=0, end=10**6),
    )
    return Assessment(
        index=index,
        response_id=text,
        id_given=True,
        prompt=text,
        topic=text,
        model=text,
        source=text,
        text=text,
        status="scored",
        claims=(claim,),
        verdicts=(Verdict(claim_id=text, label=VerdictLabel.CONTRADICTED, posterior=0.3, rationale=text, passages=(counted,)),),
        passages=(page,),
        relations=(Relation(source=page.id, target=text, label=RelationLabel.CONTRADICTION, probability=0.7),),
        unparsed=(text,),
        counts={"extract": {f"dropped_{text}": 1}},
        warnings=(text,),
    )


def read(assessments: Sequence[Assessment], **fields: object) -> RunRead:
    """The run as the report gets it; the relation of the small response's first claim is known whole."""
    summary = summarise(assessments, RunFacts(method="builtin-fr2"), run="runs/made")
    known = {
        Pair(PAGE, "Ada Lovelace was born in London in 1815."): [Distribution(entailment=0.9, neutral=0.08, contradiction=0.02)]
    }
    made = {"name": "made", "summary": summary, "assessments": assessments, "decide": decide_by("own", lambda claim: 0.5)}
    made["distributions"] = known
    return RunRead(**{**made, **fields})
