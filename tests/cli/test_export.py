"""`localfact export`: one form, into a file; sent where an address is typed, and only then."""

import json
from pathlib import Path

import pytest
from commands import CommandLine, QuickCommandLine
from loopback_langfuse import PUBLIC, SECRET, LoopbackLangfuse, serving
from report_runs import small_assessment
from stored_runs import store_run


@pytest.fixture
def localfact(tmp_path: Path) -> CommandLine:
    """The command line beside a run."""
    given, shared = (small_assessment(at).model_copy(update={"id_given": at == 0}) for at in (0, 1))
    store_run(tmp_path / "runs/4f1c", [given, shared])
    return QuickCommandLine(tmp_path)


def test_scores_are_sent_where_an_address_is_typed_and_only_then(localfact: CommandLine, tmp_path: Path) -> None:
    localfact.environment |= {"LANGFUSE_PUBLIC_KEY": PUBLIC, "LANGFUSE_SECRET_KEY": SECRET}
    with serving(LoopbackLangfuse()) as langfuse:
        localfact.environment["LANGFUSE_HOST"] = langfuse.url
        written = localfact("export", "--langfuse", "--out", "scores.jsonl")
        assert (written.returncode, json.loads(written.stdout)) == (0, {"file": "scores.jsonl", "lines": 5})
        assert "1 response is left out" in written.stderr
        assert langfuse.requests == 0
        sent = localfact("export", "runs/4f1c", "--langfuse", "--send", langfuse.url)
        assert (sent.returncode, json.loads(sent.stdout)) == (0, {"sent": 5, "to": langfuse.url})
        lines = [json.loads(line) for line in (tmp_path / "scores.jsonl").read_text().splitlines()]
        assert list(langfuse.scores.values()) == lines
    assert SECRET not in sent.stdout + sent.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "Name one form: --"),
        (("--otel", "--langfuse"), "Name one form: --"),
        (("--otel",), "Name the file with --out."),
        (("--otel", "--out", "events.jsonl", "--send", "https://langfuse.example"), "--send goes with --langfuse alone"),
    ],
)
def test_what_cannot_be_exported_is_told(localfact: CommandLine, words: tuple[str, ...], said: str) -> None:
    done = localfact("export", *words)
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr
