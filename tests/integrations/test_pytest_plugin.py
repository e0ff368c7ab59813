"""The fixture for pytest, used by a real pytest in a process of its own, which finds it by its entry point."""

import math
import re
import subprocess
import sys
from pathlib import Path

import pytest

from localfact.errors import InputError
from localfact.integrations.pytest_plugin import FactualityAssertions

ROOT = Path(__file__).resolve().parents[2]
PAGE = "Ada Lovelace was born in London in 1815. She wrote notes on the Analytical Engine."
TESTS = f"""
from functools import partial

import pytest
from localfact import Options

PAGE = {{"title": "Ada", "link": "https://pages.example/ada", "text": {PAGE!r}}}


@pytest.fixture
def assert_supported(factuality):
    return partial(factuality.assert_supported, options=Options(embedder="none"))


def test_right(assert_supported):
    assessment = assert_supported("Ada Lovelace was born in London.", passages=[PAGE])
    assert len(assessment.supported) == 1


def test_wrong(assert_supported):
    assert_supported("Ada Lovelace was born in Paris. She wrote notes.", passages=[PAGE])


def test_wrong_within_bounds(assert_supported):
    text = "Ada Lovelace was born in Paris. Ada Lovelace was born in 1815."
    assert_supported(text, passages=[PAGE], min_precision=0.5, max_contradicted=1)


def test_unknown(assert_supported):
    assert_supported("Ada Lovelace was born in London. Bananas are berries.", passages=[PAGE])


def test_nothing(assert_supported):
    assert_supported("Sure, happy to help!", passages=[PAGE], min_precision=0.0)


def test_no_evidence(assert_supported):
    assert_supported("Ada Lovelace was born in London.")
"""


def run(folder: Path, *words: str) -> str:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--color=no", "-rA", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True).stdout


@pytest.mark.parametrize("bounds", [{"min_precision": 80}, {"min_precision": math.nan}, {"max_contradicted": -1}])
def test_a_bound_that_cannot_be_is_refused_before_anything_is_judged(
    factuality: FactualityAssertions, bounds: dict[str, float]
) -> None:
    with pytest.raises(InputError, match=f"{next(iter(bounds))} cannot be .*: (precision|contradicted) is a "):
        factuality.assert_supported("Ada Lovelace was born in London.", **bounds)  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_wrong_text_fails_with_the_claim_the_sentence_and_the_source(tmp_path: Path) -> None:
    (tmp_path / "test_answers.py").write_text(TESTS)
    told = run(tmp_path)
    outcomes = dict(line.split(" ")[1::-1] for line in told.splitlines() if line.startswith(("PASSED ", "FAILED ", "ERROR ")))
    assert {name.partition("::")[2]: outcome for name, outcome in outcomes.items()} == {
        "test_right": "PASSED",
        "test_wrong": "FAILED",
        "test_wrong_within_bounds": "PASSED",
        "test_unknown": "FAILED",
        "test_nothing": "FAILED",
        "test_no_evidence": "FAILED",
    }
    parts = [part.strip("_ ") for part in told.partition("FAILURES")[2].split("\n_____")]
    said = {part.partition(" ")[0]: part for part in parts}
    wrong = said["test_wrong"]
    assert "contradicted is 1, and should be at most 0" in wrong.lower()
    for text in ("Ada Lovelace was born in Paris.", "Ada Lovelace was born in London in 1815.", "https://pages.example/ada"):
        assert f"{text}\n" in wrong.partition("Contradicted:")[2]
    assert "pytest_plugin.py" not in wrong  # the traceback ends in the test
    assert "Bananas are berries." in said["test_unknown"].partition("Not supported:")[2]
    assert "It states nothing that could be judged" in said["test_nothing"]
    assert "name one of them" in said["test_no_evidence"]


@pytest.mark.slow
def test_the_test_of_the_page_passes_and_fails_as_it_shows(tmp_path: Path) -> None:
    page = (ROOT / "docs/integrations.md").read_text(encoding="utf-8").partition("## pytest\n")[2].partition("\n## ")[0]
    code, shown = re.findall(r"^```(?:python)?\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    fast = "passages=[page], options=__import__('localfact').Options(embedder='none'))"  # the same verdict, sooner
    passing = code.replace("passages=[page])", fast)
    failing = passing.replace("says_what", "errs").replace("born in London.", "born in Paris.")
    (tmp_path / "test_page.py").write_text(f"{passing}\n\n{failing}")
    told = run(tmp_path)
    assert "1 failed, 1 passed" in told
    assert shown.partition("\n")[2] in told


@pytest.mark.slow
def test_a_run_that_does_not_use_it_loads_nothing_of_localfact(tmp_path: Path) -> None:
    (tmp_path / "test_other.py").write_text(
        "import sys\ndef test_loaded():\n    loaded = {n for n in sys.modules if n.startswith('localfact.')}\n"
        "    assert loaded <= {'localfact.integrations', 'localfact.integrations.pytest_plugin'}\n"
        "    assert not {'pydantic', 'rich', 'numpy'} & set(sys.modules)\n"
    )
    assert "1 passed" in run(tmp_path)
