"""The commands of annotation: serve, export, import, and what they say when something is wrong."""

import json
import signal
import socket
from pathlib import Path

import httpx
import pytest
from annotation_projects import judge_all, make_project
from annotation_server import serving
from typer.testing import CliRunner, Result

from localfact.annotation.project import DATABASE
from localfact.annotation.store import IRRELEVANT, AnnotationStore
from localfact.cli.main import app
from localfact.inputs.annotations import IrrelevantMeaning

ROW = {"id": "mill", "response": "The mill opened in 1911. It burned.", "claims": [{"text": "The mill opened in 1911."}]}


def asked(*words: object) -> Result:
    return CliRunner().invoke(app, ["annotate", *map(str, words)])


@pytest.mark.slow
def test_a_file_is_served_until_it_is_stopped_and_the_same_command_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    data = tmp_path / "answers.jsonl"
    data.write_text(json.dumps(ROW) + "\n")
    for _ in range(2):
        with serving(data, "--blind") as served:
            page = httpx.get(served.at)
            assert "Who annotates?" in page.text
            assert "server" not in page.headers
            assert served.end(signal.SIGINT) == 0
    (folder,) = (tmp_path / "annotations").iterdir()
    assert len(list((folder / "backups").iterdir())) == 2


@pytest.mark.slow
def test_for_others_a_link_with_a_token_is_printed(tmp_path: Path) -> None:
    with serving(make_project(tmp_path / "project"), "--host", "0.0.0.0") as served:
        assert served.query.startswith("?token=")
        assert served.at == f"http://{socket.gethostname()}:{served.port}/"
        at = f"http://127.0.0.1:{served.port}/"
        assert httpx.get(at).status_code == 401
        assert "Who annotates?" in httpx.get(at + served.query, follow_redirects=True).text


def test_an_export_is_written_beside_what_it_says(tmp_path: Path) -> None:
    folder, gold, differing = make_project(tmp_path / "project"), tmp_path / "gold.jsonl", tmp_path / "differing.jsonl"
    store = AnnotationStore(folder / DATABASE)
    judge_all(store, 1, "ada")
    store.close()
    done = asked("export", folder, "--out", gold, "--disagreements", differing)
    assert done.exit_code == 0
    assert "ada" in done.stdout
    rows = [json.loads(line) for line in gold.read_text().splitlines()]
    assert [row["id"] for row in rows] == ["mill"]
    assert differing.read_text() == ""


def test_a_project_that_was_begun_when_irrelevant_meant_something_else_says_so(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "project")
    said = []
    for meaning in IrrelevantMeaning:
        store = AnnotationStore(folder / DATABASE)
        store.set_fact(IRRELEVANT, meaning.value)
        store.close()
        said.append(
            "FastFact's benchmark, and a new project, mean: nothing to do with the question."
            in " ".join(asked("export", folder, "--out", tmp_path / "gold.jsonl").output.split())
        )
    assert said == [False, True]


def test_labels_from_elsewhere_make_a_project_and_are_taken_once(tmp_path: Path) -> None:
    table = tmp_path / "labelled.csv"
    table.write_text("response,claim,label\nThe mill opened in 1911.,The mill opened in 1911.,refuted\n")
    first, again = (asked("import", table, "--into", tmp_path / "project", "--annotator", "ada", "--json") for _ in range(2))
    assert (json.loads(first.stdout)["finished"], json.loads(again.stdout)["passed_over"]) == (1, 1)


@pytest.mark.slow
def test_a_file_without_labels_is_told_with_its_reason(tmp_path: Path) -> None:
    table = tmp_path / "rows.jsonl"
    table.write_text('{"response": "The mill opened."}\n')
    done = asked("import", table, "--into", tmp_path / "project")
    assert done.exit_code == 1
    assert "it has no claims with labels" in str(done.exception)
    assert not (tmp_path / "project").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nothing.jsonl"], "no file"),
        (["export", "nothing"], "no annotation project"),
        (["project", "--overlap", "1"], "begun already"),
        (["project", "--host", "203.0.113.7"], "Cannot listen"),
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str) -> None:
    monkeypatch.chdir(tmp_path)
    make_project(tmp_path / "project")
    done = asked(*words)
    assert done.exit_code != 0
    assert said in f"{done.output} {done.exception}"


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders of the projects that are served, none of which is waited for."""
    folders: list[Path] = []
    monkeypatch.setattr("localfact.annotation.serving.serve_project", lambda project, *_, **__: folders.append(project.folder))
    return folders


@pytest.mark.parametrize(
    "options",
    [
        ["--overlap", "1"],
        ["--overlap", "0.35", "--seed", "7"],
        ["--blind"],
        ["--seen"],
        ["--adjudicator", "cy", "--adjudicator", "di"],
        ["--overlap", "0", "--seed", "0", "--blind", "--adjudicator", "cy", "--port", "0", "--host", "localhost"],
    ],
)
@pytest.mark.slow
def test_the_same_command_goes_on_whatever_its_options(tmp_path: Path, served: list[Path], options: list[str]) -> None:
    data, folder = tmp_path / "answers.jsonl", tmp_path / "project"
    data.write_text(json.dumps(ROW) + "\n")
    for named in ([data, "--out", folder], [data, "--out", folder], [folder]):
        done = asked(*named, *options)
        assert done.exit_code == 0, done.exception
    assert served == [folder] * 3


def test_a_project_begun_by_an_import_takes_its_own_options_again(tmp_path: Path, served: list[Path]) -> None:
    table = tmp_path / "labelled.csv"
    table.write_text("response,claim,label\nThe mill opened in 1911.,The mill opened in 1911.,refuted\n")
    assert asked("import", table, "--into", tmp_path / "project").exit_code == 0
    assert asked(tmp_path / "project", "--overlap", "1", "--seed", "0").exit_code == 0
    assert asked(tmp_path / "project", "--overlap", "0.5").exit_code != 0
    assert served == [tmp_path / "project"]


@pytest.mark.parametrize("options", [["--overlap", "0.99"], ["--seed", "8"], ["--overlap", "1", "--seed", "8"]])
def test_another_draw_than_a_project_was_begun_with_is_refused(tmp_path: Path, served: list[Path], options: list[str]) -> None:
    data, folder = tmp_path / "answers.jsonl", tmp_path / "project"
    data.write_text(json.dumps(ROW) + "\n")
    assert asked(data, "--out", folder, "--overlap", "1", "--seed", "7").exit_code == 0
    done = asked(data, "--out", folder, *options)
    assert "was begun already" in str(done.exception)
    assert served == [folder]


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = asked(make_project(tmp_path / "project"), "--port", taken.getsockname()[1])
    assert "Name another --port" in str(done.exception)


@pytest.mark.slow
def test_a_project_stays_blind_until_it_is_said_otherwise(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "project")
    found = []
    for options in ([], ["--blind"], ["--seen"], []):
        with serving(folder, *options) as served:
            client = httpx.Client(base_url=served.at, headers={"origin": served.at.rstrip("/")}, follow_redirects=True)
            client.post("/sign-in", data={"name": "ada"})
            found.append("The machine says" in client.get("/responses/1/judge").text)
            client.close()
    assert found == [False, False, True, True]


def test_what_was_imported_can_be_annotated_by_somebody_else(tmp_path: Path) -> None:
    table = tmp_path / "labelled.csv"
    table.write_text("response,claim,label\nThe mill opened in 1911.,The mill opened in 1911.,refuted\n")
    assert asked("import", table, "--into", tmp_path / "project").exit_code == 0
    store = AnnotationStore(tmp_path / "project" / DATABASE)
    assert store.next_task("bo") == 1
    assert store.progress()[0].seconds == 0
    store.close()
