"""JUnit XML of a run: what is a failure, an error and skipped, and that no text gets out of its place."""

from xml.etree import ElementTree

import pytest
from report_runs import HOSTILE, small_assessment
from run_builders import assessment, run_of

from localfact.integrations.junit import junit_xml
from localfact.report.bar import hold, measured_of, parse_bounds


def test_a_case_a_response_with_what_contradicts_it() -> None:
    run = [small_assessment(), assessment("SS", index=1), assessment("", index=2), assessment("SF", index=3)]
    suites = ElementTree.fromstring(junit_xml(run, seconds={1: {"relate": 0.5, "retrieve": 0.25}}))
    (suite,) = suites
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["4", "1", "1", "1"]
    ada, plain, abstained, broken = suite
    failure = ada.find("failure")
    assert failure is not None
    (contradicted,) = run[0].contradicted
    assert contradicted.sentence is not None
    assert all(text in (failure.text or "") for text in (contradicted.text, contradicted.sentence, str(contradicted.source)))
    assert (plain.get("name"), plain.get("time"), plain.find("failure")) == ("r1", "0.750", None)
    assert abstained.find("skipped") is not None
    assert "claim 1" in str(broken.findtext("error"))


def test_a_claim_that_could_not_be_judged_is_told_beside_one_that_is_contradicted() -> None:
    for bounds, kind in ((), "failure"), (parse_bounds("contradicted=1"), "error"):
        run = run_of("CF")
        case = ElementTree.fromstring(junit_xml(run, hold(bounds, measured_of(run)))).find(".//testcase")
        assert case is not None
        told = str(case.findtext(kind))
        assert ("claim 0" in told, "claim 1" in told) == (True, True)


def test_a_bar_is_a_case_and_decides_whether_contradicted_claims_fail_theirs() -> None:
    run = run_of("SC")
    for bounds, failures in (("contradicted=1", 0), ("contradicted=0,precision=0.5", 2)):
        suites = ElementTree.fromstring(junit_xml(run, hold(parse_bounds(bounds), measured_of(run))))
        assert suites.get("failures") == str(failures)
        assert "claim 1" in "".join(suites.itertext())  # told in either case


@pytest.mark.parametrize("text", [*HOSTILE, "]]></failure>", "\uffff \x0c\x85", 'a" message="b'])
def test_no_text_leaves_its_place(text: str) -> None:
    whole = small_assessment()
    claims = tuple(claim.model_copy(update={"text": text}) for claim in whole.claims)
    passages = tuple(passage.model_copy(update={"text": text, "links": (text,)}) for passage in whole.passages)
    hostile = whole.model_copy(update={"response_id": text, "claims": claims, "passages": passages})
    clean, read = (ElementTree.fromstring(junit_xml([one])) for one in (whole, hostile))
    assert [element.tag for element in read.iter()] == [element.tag for element in clean.iter()]
    assert [set(element.attrib) for element in read.iter()] == [set(element.attrib) for element in clean.iter()]
