from localfact.records import Assessment
from localfact.report.run_figures import RunFacts
from localfact.report.summary import summarise, usage_of


def assessment(index: int, *, error: str | None = None, warnings: tuple[str, ...] = (), width: int = 0) -> Assessment:
    counts = {"relate": {"pairs": 10}, "assess": {"graph_width": width}}
    return Assessment(index=index, response_id=f"r{index}", status="failed", error=error, warnings=warnings, counts=counts)


def test_usage_is_summed_by_stage_but_of_widths_the_largest_is_kept() -> None:
    usage = usage_of([assessment(0, width=2), assessment(1, width=7), assessment(2, width=3)])
    assert usage == {"relate": {"pairs": 30}, "assess": {"graph_width": 7}}


def test_a_warning_is_given_once_and_a_failure_names_its_first_responses() -> None:
    rows = [assessment(index, error="no text", warnings=("BM25 alone.",)) for index in range(5)]
    summary = summarise(rows, RunFacts(method="m"), warnings=("of the run",))
    assert summary.warnings == ("of the run", "BM25 alone. (5 responses)", "Failed: r0, r1, r2 and 2 more: no text")
    assert (summary.responses, summary.responses_failed) == (5, 5)
