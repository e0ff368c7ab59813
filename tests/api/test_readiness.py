"""What there is, what there could be and what is missing, in sentences."""

from pathlib import Path

from localfact.api.doctor import Finding, tell_readiness
from localfact.api.list_models import ListedModel, list_models
from localfact.llm.placing.hardware import Gpu, Hardware
from localfact.models.cards import list_cards

CHECKOUT = Path(__file__).resolve().parents[2]


def model(name: str, gib: float, *, fits: bool = True, here: bool = False) -> ListedModel:
    facts = {"window": 1, "licence": "MIT", "gated": False, "tried": "", "bytes": 0}
    return ListedModel(name=name, roles=("llm",), weights_gib=gib, fits=fits, weights="x" if here else None, **facts)  # type: ignore[arg-type]


def findings(*, engine: bool, torch: bool = True) -> list[Finding]:
    return [
        Finding("torch", torch, "", "make setup", needed=True),
        Finding("vLLM", engine, "", "make setup-llm"),
        Finding("GPU", False, "none"),
    ]


def test_a_machine_without_an_engine_is_ready_for_built_in_methods_and_told_what_it_could_run() -> None:
    said = tell_readiness(findings(engine=False), [model("small", 1), model("large", 9), model("huge", 99, fits=False)])
    assert said == [
        "Ready: the built-in methods.",
        "This machine could run: large, small, slowly, as it has no GPU.",
        "Missing for the rest: vLLM (make setup-llm), weights (localfact models pull NAME).",
    ]


def test_what_is_there_is_ready_and_what_is_needed_and_is_not_there_comes_first() -> None:
    said = tell_readiness(findings(engine=True), [model("small", 1, here=True)])
    assert said == ["Ready: the built-in methods and methods with a language model, by small.", "Nothing is missing."]
    assert tell_readiness(findings(engine=True, torch=False), []) == [
        "Ready: nothing yet.",
        "Missing for that: torch (make setup).",
    ]


def test_what_fits_follows_the_machine() -> None:
    laptop = Hardware(memory_gib=16)
    gpus = Hardware(memory_gib=200, gpus=(Gpu(name="A", memory_gib=80, capability=(9, 0)),) * 4)
    fits = [{one.name: one.fits for one in list_models(machine)} for machine in (laptop, gpus)]
    assert [one["qwen2.5-1.5b"] for one in fits] == [True, True]
    assert [one["llama-3.1-70b"] for one in fits] == [False, True]


def test_where_figures_of_a_model_are_said_to_stand_there_is_a_page() -> None:
    assert [card.name for card in list_cards() if card.tried and not (CHECKOUT / card.tried).is_file()] == []
