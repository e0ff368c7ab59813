"""What a run would cost, by the method's formula, before anything is here."""

import pytest

from localfact.api.evaluate import prepare
from localfact.api.plan import plan
from localfact.api.reckoning import terms_of, value_of_term
from localfact.llm.placing import rates
from localfact.llm.placing.hardware import Hardware
from localfact.methods.options import Options
from localfact.methods.registry import METHODS

#: As many as there is a claim for.
WORDS = "In the year 1911 Ann Orr ran the old mill at Torsk."
SIZES = {"N": 12.0, "w": 4.0, "M": 10.0, "m": 30.0, "k": 3.0, "p": 0.5, "q": 2.0}


@pytest.mark.parametrize(
    ("formula", "calls"),
    [("N/w + pM", 8), ("1 + M + Mm + m^2", 1_211), ("N + (3 + q)M", 62), ("1 + 2M", 21), ("N/w + M + pMm", 163), ("0", 0)],
)
def test_a_formula_is_its_calls(formula: str, calls: float) -> None:
    assert sum(value_of_term(term, SIZES) for term in terms_of(formula)) == calls


def test_every_methods_formula_is_understood() -> None:
    for method in METHODS.values():
        assert sum(value_of_term(term, SIZES) for term in terms_of(method.cost)) >= 0


def test_a_plan_without_weights_has_calls_tokens_hours_and_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOCALFACT_WEIGHTS", raising=False)
    monkeypatch.setattr("localfact.llm.placing.settings.detect", lambda: Hardware(memory_gib=16))
    row = {
        "response": "Ann ran the mill.",
        "claims": [{"text": "Ann ran the mill."}],
        "passages": [{"text": f"Page {at}."} for at in range(2)],
    }
    options = Options(model="llama-3.3-70b", embedder="none")
    planned = plan(prepare([row], method="factreasoner-fr2", options=options, planning=True))
    reckoned = planned["reckoned"]
    assert (reckoned["calls"], reckoned["gpus"]) == (2, 2)  # two pairs; the claim is given
    assert reckoned["tokens_read"] == 2 * 170
    assert "nothing was measured" in reckoned["how"]
    assert "another machine" in planned["machine"]["assumed"]


def test_processors_without_bfloat16_take_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    hours = []
    for has in (True, False):
        monkeypatch.setattr(rates, "has_bfloat16", lambda has=has: has)
        hours.append(rates.hours_of(rates.TokenWork(1e6), 1.5, {"device": "cpu"}))
    assert hours[1] > 5 * hours[0]


@pytest.mark.parametrize(
    ("method", "more", "calls"),
    [
        ("factreasoner-fr2", {"revise": "given"}, 3),
        ("factreasoner-fr2", {"claims": "extract"}, 1 + 1 + 2),
        ("factreasoner-fr2", {"relations": "lexical", "revise": "given"}, 1),
        ("fastfact", {}, 1 + 1),
        ("fastfact", {"claims": "extract"}, 1 + 1),
        ("fastfact", {"claims": "extract", "guided": True}, 1 + 1 + 1),
        ("localfact", {"claims": "extract"}, 1 + 1 + 2),
        ("localfact", {}, 1 + 2),
        # No label is asked of a model whose card trusts no opinion of it.
        ("localfact", {"model": "qwen2.5-coder-1.5b"}, 2),
        ("localfact", {"model": "qwen2.5-coder-1.5b", "claims": "extract"}, 1 + 2),
        ("factverify", {}, 1),
    ],
)
def test_a_plan_counts_what_a_run_would_ask(
    method: str, more: dict[str, object], calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("localfact.llm.placing.settings.detect", lambda: Hardware(memory_gib=16))
    passages = [{"text": f"Page {at}."} for at in range(2)]
    row = {"response": WORDS, "claims": [{"text": WORDS}], "passages": passages}
    options = Options(**{"model": "llama-3.3-70b", "embedder": "none", **more})
    assert plan(prepare([row], method=method, options=options, planning=True))["reckoned"]["calls"] == calls
