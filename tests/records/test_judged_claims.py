import pytest

from localfact import claim_rows
from localfact.records import Assessment, Claim, CountedPassage, JudgedClaim, Passage, Span, Verdict
from localfact.report.summary import summarise
from localfact.vocabulary import RelationLabel, VerdictLabel

PASSAGE = Passage(id="p", text="Ice is cold. Ice floats on water.", links=("https://ice.example/?a=1&b=2",))
NAMED = Passage(id="q", text="Snow <falls> in winter.", title="Snow & rain")


def counted(passage: Passage, sentence: Span | None = None) -> tuple[CountedPassage, ...]:
    return (CountedPassage(passage_id=passage.id, relation=RelationLabel.ENTAILMENT, probability=0.8, sentence=sentence),)


ASSESSMENT = Assessment(
    index=0,
    response_id="<ice>",
    status="scored",
    claims=tuple(
        Claim(id=f"c{number}", text=text) for number, text in enumerate(("Ice floats.", "Ice sinks.", "<b>x</b>", "y", "z"))
    ),
    verdicts=(
        Verdict(claim_id="c0", label=VerdictLabel.SUPPORTED, posterior=0.8, passages=counted(PASSAGE, Span(start=13, end=33))),
        Verdict(claim_id="c1", label=VerdictLabel.CONTRADICTED, posterior=0.4, passages=counted(NAMED)),
        Verdict(claim_id="c2", label=VerdictLabel.CONTRADICTED, posterior=0.1),
        Verdict(claim_id="c3", label=VerdictLabel.NOT_ENOUGH_EVIDENCE),
        Verdict(claim_id="c4", label=VerdictLabel.SUPPORTED, posterior=0.9),
    ),
    passages=(PASSAGE, NAMED),
    warnings=("A <warning>.",),
)


def test_contradicted_and_supported_claims_come_surest_first_with_what_decided() -> None:
    assert [claim.text for claim in ASSESSMENT.contradicted] == ["<b>x</b>", "Ice sinks."]
    assert [claim.id for claim in ASSESSMENT.supported] == ["c4", "c0"]
    assert ASSESSMENT.supported[1] == JudgedClaim(
        id="c0",
        text="Ice floats.",
        verdict=VerdictLabel.SUPPORTED,
        probability=0.8,
        sentence="Ice floats on water.",
        source="https://ice.example/?a=1&b=2",
    )
    assert (ASSESSMENT.contradicted[1].sentence, ASSESSMENT.contradicted[1].source) == (
        "Snow <falls> in winter.",
        "Snow & rain",
    )
    assert [claim.id for claim in ASSESSMENT.judged] == ["c0", "c1", "c2", "c3", "c4"]


def test_what_a_user_holds_is_shown_on_one_line() -> None:
    assert repr(ASSESSMENT) == "<Assessment '<ice>': 5 claims: 2 supported, 2 contradicted, 1 not enough evidence>"
    assert repr(ASSESSMENT.contradicted[0]) == "<contradicted (0.10): '<b>x</b>'>"
    failed = Assessment(index=0, response_id="a", status="failed", error="no text")
    assert str(failed) == "<Assessment 'a': failed: no text>"
    assert repr(Assessment(index=0, response_id="a", status="abstained")) == "<Assessment 'a': abstained, no claims>"


def test_a_notebook_shows_contradicted_claims_escaped_and_without_scripts() -> None:
    page = ASSESSMENT._repr_html_()
    assert page.index("&lt;b&gt;x&lt;/b&gt;") < page.index("Ice sinks.") < page.index("<details>") < page.index("Ice floats.")
    assert '<a href="https://ice.example/?a=1&amp;b=2"' in page
    assert "A &lt;warning&gt;." in page
    assert "<b>x</b>" not in page
    assert "<script" not in page
    harmful = ASSESSMENT.model_copy(update={"passages": (PASSAGE.model_copy(update={"links": ("javascript:alert(1)",)}),)})
    assert "href" not in harmful._repr_html_()


def test_a_notebook_shows_so_many_claims_of_a_long_text() -> None:
    many = ASSESSMENT.model_copy(
        update={
            "claims": tuple(Claim(id=f"c{number}", text="Ice.") for number in range(900)),
            "verdicts": tuple(Verdict(claim_id=f"c{number}", label=VerdictLabel.CONTRADICTED) for number in range(900)),
        }
    )
    assert many._repr_html_().count("Ice.") == 400
    assert "And 700 more." in many._repr_html_()


def test_the_summary_is_a_line_or_a_short_report() -> None:
    from localfact.report.run_figures import RunFacts

    summary = summarise([ASSESSMENT], RunFacts(method="builtin-fr1", seed=0), run="runs/<x>")
    assert repr(summary).startswith("<Summary of builtin-fr1: 1 response, 5 claims: 2 supported, 2 contradicted")
    assert repr(summary).endswith("; runs/<x>>")
    assert "runs/&lt;x&gt;" in summary._repr_html_()
    assert "A &lt;warning&gt;." in summary._repr_html_()


@pytest.mark.slow
def test_rows_become_a_frame() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(claim_rows(ASSESSMENT))
    assert frame["verdict"].value_counts().to_dict() == {"supported": 2, "contradicted": 2, "not_enough_evidence": 1}
    assert frame["posterior"].mean() == pytest.approx(0.55)
