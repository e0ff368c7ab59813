"""Sums of outlines are those of whole assessments, in a small part of their memory."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localfact.errors import InputError
from localfact.records import Assessment, Claim, CountedPassage, Passage, Verdict
from localfact.report.run_figures import RunFacts
from localfact.report.summary import summarise
from localfact.runs.assessments import ASSESSMENTS_FILE, read_assessments
from localfact.runs.outlines import read_outlines
from localfact.vocabulary import Flag, GoldLabel, VerdictLabel

COUNTS = [{}, {"relate": {}}, {"extract": {"claims": 2}, "retrieve": {"passages": 1, "claims": 2}, "relate": {"pairs": 2}}]
USAGE = [{}, {"verify": {"calls": 1, "prompt_tokens": 10, "choices": 1, "mass": 0.25}}]

verdicts = st.builds(
    lambda label, posterior, flags: Verdict(
        claim_id="c1",
        label=label,
        posterior=posterior,
        flags=flags,
        rationale="because",
        passages=(CountedPassage(passage_id="p"),),
    ),
    st.sampled_from(VerdictLabel),
    st.none() | st.floats(0, 1),
    st.sampled_from([(), (Flag.CUT_ANSWER,)]),
)


@st.composite
def assessments(draw: st.DrawFn) -> list[Assessment]:
    made = []
    for index in range(draw(st.integers(0, 5))):
        found = draw(st.lists(verdicts, max_size=3))
        scored = any(one.label is VerdictLabel.SUPPORTED for one in found)
        made.append(
            Assessment(
                index=index,
                response_id=f"r{index}",
                text="One sentence. Another one.",
                status="scored" if scored else "unscored" if found else "abstained",
                claims=tuple(
                    Claim(id=f"c{place}", text=f"Claim {place}.", gold=draw(st.sampled_from([None, *GoldLabel])))
                    for place in range(len(found))
                ),
                verdicts=tuple(one.model_copy(update={"claim_id": f"c{place}"}) for place, one in enumerate(found)),
                passages=(Passage(id="p", text="A page."),),
                gold_supported=draw(st.none() | st.integers(0, 3)),
                gold_not_supported=draw(st.none() | st.integers(0, 3)),
                counts=draw(st.sampled_from(COUNTS)) if found else {},
                usage=draw(st.sampled_from(USAGE)),
                warnings=draw(st.sampled_from([(), ("A warning.",)])),
            )
        )
    return made


@pytest.mark.slow
@given(assessments())
def test_sums_of_outlines_are_those_of_the_whole(tmp_path_factory: pytest.TempPathFactory, made: list[Assessment]) -> None:
    folder = tmp_path_factory.mktemp("run")
    (folder / ASSESSMENTS_FILE).write_text("".join(f"{one.model_dump_json()}\n" for one in reversed(made)))
    facts = RunFacts(method="fastfact", stride=1, asks_model=True)
    try:
        whole = read_assessments(folder)
    except InputError:  # more claims to evidence than there are
        with pytest.raises(InputError):
            read_outlines(folder)
        return
    assert [one.index for one in whole] == list(range(len(made)))
    assert summarise(read_outlines(folder), facts) == summarise(whole, facts)


def test_an_outline_has_of_passages_but_who_gave_them_and_no_reasons(tmp_path: Path) -> None:
    verdict = Verdict(claim_id="c1", label=VerdictLabel.SUPPORTED, rationale="because", posterior=0.9)
    whole = Assessment(
        index=0,
        response_id="r",
        status="scored",
        claims=(Claim(id="c1", text="Ice floats."),),
        verdicts=(verdict,),
        passages=(Passage(id="p", text="A page.", provider="local"), Passage(id="q", text="Two.", provider="local")),
    )
    (tmp_path / ASSESSMENTS_FILE).write_text(f"{whole.model_dump_json()}\n")
    (outline,) = read_outlines(tmp_path)
    assert (outline.passages, outline.claims[0].text) == ((Passage(id="", text="", provider="local"),), "")
    assert (outline.verdicts[0].label, outline.verdicts[0].posterior) == (VerdictLabel.SUPPORTED, 0.9)
