"""The gate to terminal and pipe: nothing that comes from elsewhere is obeyed, hidden, turned round, or taken for markup."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import QuickCommandLine
from rich.table import Table
from run_builders import assessment

from localfact.errors import InputError
from localfact.records import Span
from localfact.report.console import (
    errors,
    escape_unseen,
    json_line,
    line,
    note,
    output,
    progress_bar,
    report_error,
    show,
    show_text,
)
from localfact.report.tables import fields_table, graph_view, hits_view, table_of
from localfact.report.terminal import assessment_view, responses_table

#: An escape sequence that writes the clipboard, one of the second set of controls, a mark that turns text round, a line of its
#: own, a tag that closes nothing, a hyperlink, an emoji.
HOSTILE = (
    "a\x1b]52;c;ZXZpbA==\x07b\x9b31mc\u202ed\nsupported 1.00 forged [/foo] [link=https://x.example]e[/link] :smile: \x7f\u2028f"
)
OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def titled() -> Table:
    table = Table(title=HOSTILE, caption=HOSTILE)
    table.add_column(HOSTILE)
    table.add_row(HOSTILE)
    return table


def response() -> object:
    made = assessment("SC", gold="sn", posteriors=[0.9, 0.1])
    claims = tuple(claim.model_copy(update={"text": HOSTILE}) for claim in made.claims)
    claims = (claims[0].model_copy(update={"spans": (Span(start=0, end=len(HOSTILE)),)}), *claims[1:])
    changed = dict.fromkeys(("text", "response_id", "prompt", "error"), HOSTILE)
    return made.model_copy(update={**changed, "claims": claims, "warnings": (HOSTILE,), "unparsed": (HOSTILE,)})


PATHS: dict[str, Callable[[], object]] = {
    "print": lambda: output().print(HOSTILE),
    "print without wrapping": lambda: output().print(HOSTILE, soft_wrap=True),
    "errors": lambda: errors().print(HOSTILE),
    "note": lambda: note(HOSTILE),
    "error": lambda: report_error(InputError(HOSTILE)),
    "json": lambda: show({HOSTILE: [HOSTILE]}, as_json=True),
    "document": lambda: show_text(HOSTILE),
    "table": lambda: output().print(titled()),
    "rows": lambda: show([{HOSTILE: HOSTILE}], as_json=False, view=table_of),
    "fields": lambda: show({HOSTILE: {HOSTILE: HOSTILE}}, as_json=False, view=fields_table),
    "graph": lambda: show({"error_message": HOSTILE}, as_json=False, view=graph_view),
    "hits": lambda: show(
        [{"rank": 1, "score": 1.0, "links": [HOSTILE], "title": HOSTILE, "date": HOSTILE, "sentence": HOSTILE}],
        as_json=False,
        view=hits_view,
    ),
    "response": lambda: output().print(assessment_view(response())),
    "responses": lambda: output().print(responses_table([response()])),
}


@pytest.mark.parametrize("path", PATHS)
def test_every_way_of_printing_shows_what_came_as_text(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    PATHS[path]()
    printed = "".join(capsys.readouterr())
    assert "forged" in printed
    assert not OBEYED.search(printed)
    squeezed = re.sub(r"[\s│┃]+", "", printed)
    assert ":smile:" in squeezed
    assert "[/foo]" in squeezed


@pytest.mark.parametrize("path", ["error", "fields", "graph", "json", "hits", "response"])
def test_a_line_break_in_a_value_forges_no_line(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    PATHS[path]()
    printed = "".join(capsys.readouterr())
    assert not [shown for shown in printed.splitlines() if shown.startswith("supported 1.00")]


def test_json_stays_json_of_the_same_value() -> None:
    value = {"\x1b[31m\n": ["\u202ea\u2066", "\U000e0041", "Åse 😀"]}
    assert json.loads(json_line(value)) == value
    assert not OBEYED.search(json_line(value))
    assert "Åse 😀" in json_line(value)
    assert escape_unseen("Åse 😀\n\tx") == "Åse 😀\n\tx"


def test_a_line_has_no_break_whatever_is_in_it() -> None:
    assert line("a\nb\r\nc\x85d\u2029e").plain == "a b c d e"


def test_the_name_of_a_file_is_no_markup_in_a_progress_bar() -> None:
    with progress_bar() as bar:
        bar.add_task(f"reading {HOSTILE}", total=1)
        bar.refresh()


@pytest.mark.slow
def test_a_file_whose_name_is_markup_is_an_error_like_any_other(tmp_path: Path) -> None:
    for name in ("[/foo].jsonl", "[link=https://x.example]a[/link].jsonl", "\x1b]52;c;eA==\x07.jsonl"):
        (tmp_path / name.replace("/", "-")).write_text("{")
        for given in (tmp_path / name.replace("/", "-"), Path(name)):
            ran = QuickCommandLine(tmp_path)("eval", "--data", given)
            assert ran.returncode in (1, 2, 3)
            assert "Traceback" not in ran.stderr
            assert not OBEYED.search(ran.stdout + ran.stderr)


def test_no_color_is_obeyed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    report_error(InputError("wrong"))
    assert "\x1b[31m" in capsys.readouterr().err
    monkeypatch.setenv("NO_COLOR", "1")
    report_error(InputError("wrong"))
    assert "\x1b[31m" not in capsys.readouterr().err


def test_a_note_into_a_pipe_is_not_folded(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    text = f"The report is {'/a-long/folder' * 20}/report.html, which a browser opens."
    note(text)
    assert capsys.readouterr().err == f"{text}\n"


def test_a_byte_of_a_path_that_is_not_utf8_reads_the_same_in_every_output(capsys: pytest.CaptureFixture[str]) -> None:
    show({"run": "run-\udcff"}, as_json=True)
    show_text("run-\udcff\n")
    assert capsys.readouterr().out == '{"run": "run-\\\\xff"}\nrun-\\xff\n'


@pytest.mark.parametrize(
    ("shell", "said"),
    [("", '{"a": "\\u00e9\\ud83d\\ude00"}\n\\u2260\n'), (">&-", ""), ("<&-", '{"a": "\\u00e9\\ud83d\\ude00"}\n\\u2260\n')],
)
def test_a_closed_stream_or_a_locale_without_letters_ends_no_command(shell: str, said: str) -> None:
    program = (
        "import sys; from localfact.report.console import output, prepare_streams, show; prepare_streams();"
        "show({'a': chr(233) + chr(0x1f600)}, as_json=True); output().print(chr(0x2260));"
        "sys.stdin.read(); sys.stdout.flush()"
    )
    done = subprocess.run(
        ["sh", "-c", f'"$0" -c "$1" {shell}', sys.executable, program],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    )
    assert (done.returncode, done.stdout.decode()) == (0, said), done.stderr.decode()
