import pytest
from hypothesis import given
from hypothesis import strategies as st
from pass_files import EXTRACTOR

from localfact.api.extract import claims_row
from localfact.inputs.claims import claim_row
from localfact.inputs.responses import read_responses, response_of
from localfact.records import Claim, Evidence, Extraction, Passage, PreVerification, Response, Span, passage_id
from localfact.runs.row_file import RowFile
from localfact.vocabulary import GoldLabel, PreVerificationLabel

text = st.text(max_size=30).map(lambda value: response_of({"response": value}, 1).text)
said = text.filter(lambda value: bool(value.strip()))
probability = st.floats(0, 1)
preverification = st.builds(
    PreVerification,
    label=st.sampled_from(PreVerificationLabel),
    confidence=probability,
    distribution=st.none() | st.dictionaries(st.sampled_from(PreVerificationLabel), probability),
    mass=st.none() | probability,
)


@st.composite
def extracted(draw: st.DrawFn) -> tuple[Response, Extraction]:
    body = draw(text)
    spans = st.lists(st.tuples(st.integers(0, len(body)), st.integers(0, len(body))).map(sorted), max_size=3)
    claims = [
        Claim(
            id=f"c{number}",
            text=(wording := draw(said)),
            original=draw(st.none() | said.filter(lambda before, now=wording: before != now)),
            spans=tuple(Span(start=start, end=end) for start, end in draw(spans)),
            gold=draw(st.none() | st.sampled_from(GoldLabel)),
            in_corpus=draw(st.none() | st.booleans()),
            preverification=draw(st.none() | preverification),
        )
        for number in range(draw(st.integers(0, 3)))
    ]
    passages = {
        passage_id(body): Passage(id=passage_id(body), text=body, title=draw(st.just("") | said), provider="input")
        for body in draw(st.lists(said.map(str.strip).filter(bool), max_size=3))
    }
    evidence = Evidence(passages=tuple(passages.values()), hits={claim.id: () for claim in claims}) if passages else None
    response = Response(
        id="r", id_given=True, text=body, prompt=draw(st.none() | said), topic=draw(st.none() | said), evidence=evidence
    )
    return response, Extraction(claims=tuple(claims), unparsed=("\ud800 -",))


@pytest.mark.slow
@given(extracted())
def test_what_is_written_is_read_back_equal(
    tmp_path_factory: pytest.TempPathFactory, made: tuple[Response, Extraction]
) -> None:
    response, extraction = made
    file = tmp_path_factory.mktemp("round") / "claims.jsonl"
    with RowFile(file, {}) as output:
        output.append(claims_row(response, extraction, EXTRACTOR, {}))
        output.complete(["r"])
    (back,) = read_responses(file)
    said = Extraction(unparsed=("\ufffd -",))
    assert back == response.model_copy(update={"claims": extraction.claims, "extraction": said})


def test_the_claim_row_leaves_out_what_a_claim_does_not_have() -> None:
    assert claim_row(Claim(id="c1", text="x", spans=(Span(start=0, end=1),))) == {"id": "c1", "text": "x", "spans": [[0, 1]]}
