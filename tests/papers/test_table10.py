"""Table 10's rows: what is run, in which order and where, and what is refused before anything is run."""

from pathlib import Path

import pytest

from localfact.errors import InputError, MissingError
from localfact.methods.options import Options
from localfact.papers.table10 import COLUMNS, columns, folder_name, options_for, row_jobs, settle
from localfact.scoring import KPolicy

LEXICAL = Options(embedder="none", tables="paper")


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty current folder and no weights from elsewhere."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.delenv("LOCALFACT_WEIGHTS", raising=False)


def test_without_a_model_the_sample_is_related_by_what_needs_no_download() -> None:
    jobs = row_jobs(None, relations=(), options=LEXICAL, limit=2)
    assert [one.relations for one in jobs] == ["lexical"] * 3


def test_the_versions_of_a_relation_model_are_run_fr3_last_over_one_file_of_pairs() -> None:
    jobs = row_jobs(None, relations=("lexical",), options=LEXICAL, out=Path("out"), limit=2)
    assert [(one.relations, one.version) for one in jobs] == [("lexical", 1), ("lexical", 2), ("lexical", 3)]
    assert [one.job.out for one in jobs] == [Path(f"out/lexical/fr{version}") for version in (1, 2, 3)]
    assert {one.job.chosen.options.relations_cache for one in jobs} == {Path("out/relations.sqlite")}
    for settings in (one.job.chosen.settings.plain() for one in jobs):
        parts = (settings["extraction"]["claims"], settings["evidence"]["k"], settings["assessment"]["tables"])
        assert parts == ("given", 3, "paper")
    assert not list(Path().iterdir())


@pytest.mark.slow
def test_the_default_folder_follows_from_data_and_options_but_not_from_the_relation_models() -> None:
    def folder(options: Options = LEXICAL, limit: int | None = 2) -> Path:
        return row_jobs(None, relations=("lexical",), options=options, limit=limit)[0].job.out.parent.parent

    assert folder() == folder()
    assert folder().parent == Path("runs")
    assert len({folder(), folder(limit=3), folder(LEXICAL.model_copy(update={"solver": "wmb"}))}) == 3


def test_a_language_model_comes_last_wherever_it_is_named() -> None:
    names, _, _ = settle(None, ("llm", "lexical"), LEXICAL, None, 1)
    assert names == ["lexical", "llm"]


def test_raw_probabilities_are_the_language_models_alone() -> None:
    raw = Options(model="any", probability="raw")
    kinds = [options_for(name, raw, Path("out"), extracts=False).probability for name in ("llm", "albert-vitaminc")]
    assert kinds == ["raw", "normalised"]


def test_a_relation_model_named_twice_is_run_once() -> None:
    assert len(row_jobs(None, relations=("lexical", "lexical"), options=LEXICAL, limit=1)) == 3


def test_a_language_model_without_weights_is_refused_by_name_before_any_other() -> None:
    with pytest.raises(MissingError) as refused:
        row_jobs(None, relations=(), options=Options(model="llama-3.1-70b", embedder="none"))
    said = str(refused.value)
    assert said.startswith("The weights of 'llama-3.1-70b' are not on this machine (looked in ")
    assert said.index("models/weights/llama-3.1-70b") < said.index("LOCALFACT_WEIGHTS") < said.index("Hugging Face")
    assert said.endswith("localfact models pull llama-3.1-70b")
    assert not list(Path().iterdir())


def test_an_encoder_without_weights_is_refused_though_another_row_could_be_run() -> None:
    with pytest.raises(MissingError, match="models pull albert-vitaminc"):
        row_jobs(None, relations=("lexical", "albert-vitaminc"), options=LEXICAL)


@pytest.mark.parametrize(
    ("relations", "options", "said"),
    [
        (("llm",), LEXICAL, "--model"),
        (("lexical",), LEXICAL.model_copy(update={"solver": "guess"}), "guess"),
    ],
)
def test_what_no_row_can_use_is_refused(relations: tuple[str, ...], options: Options, said: str) -> None:
    with pytest.raises(InputError, match=said):
        row_jobs(None, relations=relations, options=options)


def test_a_file_that_is_not_there_is_one_sentence() -> None:
    with pytest.raises(InputError, match="There is no file nowhere"):
        row_jobs(Path("nowhere.jsonl"), relations=(), options=LEXICAL)


@pytest.mark.parametrize(
    ("relations", "folder"),
    [("lexical", "lexical"), ("owner/name", "owner-name"), ("../up/x y", "up-x-y"), ("/a/b.c", "a-b.c")],
)
def test_any_relation_model_has_a_folder_of_one_name(relations: str, folder: str) -> None:
    assert folder_name(relations) == folder


def test_the_scores_stand_in_the_order_of_the_columns() -> None:
    printed = [str(one) for one in columns(KPolicy(None, 22))]
    assert printed == ["#S", "#C", "#U", "Pr", "F1(gold)", "F1@K(22)", "MAE(Pr)", "E(log10)", "Brier(response)"]
    assert len(printed) == len(COLUMNS)
