"""Settings on one level, and those in which runs differ."""

from localfact.report.page.plain_settings import find_differing, plain_settings


def test_nested_settings_have_their_path_as_name_and_empty_ones_are_left_out() -> None:
    nested = {"method": "fastfact", "evidence": {"k": 10, "hosts": {}, "corpus": None}, "gate": {"theta": 0.995}}
    assert plain_settings(nested) == [("method", "fastfact"), ("evidence: k", "10"), ("gate: theta", "0.995")]


def test_runs_differ_in_what_has_other_values_or_stands_in_one_alone() -> None:
    first, second = {"seed": 0, "evidence": {"k": 3}}, {"seed": 0, "evidence": {"k": 5, "scope": "query"}}
    assert find_differing({"a": first, "b": second}) == [("evidence: k", ["3", "5"]), ("evidence: scope", ["", "query"])]
    assert find_differing({"a": first, "b": first}) == []
