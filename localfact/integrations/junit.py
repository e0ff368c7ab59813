"""JUnit XML, as CI servers read it: a test case a response, failed where claims are contradicted, and one a bound.

Texts of models and pages are attributes and text of a tree, never markup, and characters that XML cannot have are escapes.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from localfact.records import Assessment
from localfact.report.bar import Held
from localfact.report.console import escape_unseen
from localfact.report.plain_findings import describe_all, failed_claims, unjudged_because
from localfact.runs.assessments import is_failed

#: Characters besides controls and surrogates, which `escape_unseen` escapes, that XML 1.0 has no form for.
_NO_XML = re.compile("[\ufffe\uffff]")
RESPONSES, BAR = "localfact.responses", "localfact.bar"


def junit_xml(
    assessments: Iterable[Assessment], held: Sequence[Held] = (), seconds: Mapping[int, Mapping[str, float]] | None = None
) -> str:
    """A document of one suite.

    Args:
        assessments: each is a case: a failure where claims are contradicted, else an error where it or a claim of it failed,
            skipped where it has nothing to score; claims of both kinds are told in either. Where bounds are given and all are
            reached, contradicted claims are told and fail no case.
        held: the bounds, each a case too.
        seconds: index of a response -> stage -> seconds, where they are known.
    """
    suites = Element("testsuites")
    suite = SubElement(suites, "testsuite", name="localfact")
    tolerated = bool(held) and all(one.passed for one in held)
    for assessment in assessments:
        stages = (seconds or {}).get(assessment.index, {})
        _add_response(suite, assessment, tolerated, sum(stages.values()))
    for one in held:
        case = _case(suite, BAR, str(one.bound))
        if not one.passed:
            _say(case, "failure", one.said, "BelowBar")
    figures = {"tests": len(suite), **{f"{kind}s": len(suite.findall(f"*/{kind}")) for kind in ("failure", "error")}}
    for element in (suites, suite):
        element.attrib |= {name: str(figure) for name, figure in figures.items()}
    suite.set("skipped", str(len(suite.findall("*/skipped"))))
    indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(suites, encoding="unicode")}\n'


def _add_response(suite: Element, assessment: Assessment, tolerated: bool, seconds: float) -> None:
    case = _case(suite, RESPONSES, assessment.response_id, seconds)
    because = unjudged_because(assessment)
    claims = describe_all([*assessment.contradicted, *failed_claims(assessment)])
    if assessment.contradicted and not tolerated:
        _say(case, "failure", assessment.headline, "Contradicted", claims)
    elif is_failed(assessment):
        _say(case, "error", because or assessment.headline, "Failed", claims)
    elif because is not None:
        _say(case, "skipped", because)
    else:
        SubElement(case, "system-out").text = _clean(f"{assessment.headline}.\n{claims}".rstrip())


def _case(suite: Element, group: str, name: str, seconds: float = 0.0) -> Element:
    return SubElement(suite, "testcase", classname=group, name=_clean(name), time=f"{seconds:.3f}")


def _say(case: Element, kind: str, message: str, named: str = "", text: str = "") -> None:
    said = SubElement(case, kind, message=_clean(message))
    if named:
        said.set("type", named)
    said.text = _clean(text) or None


def _clean(text: str) -> str:
    return _NO_XML.sub(lambda found: f"\\u{ord(found[0]):x}", escape_unseen(text))
