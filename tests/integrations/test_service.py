"""`localfact serve` as its clients have it: a real server on loopback, and a real HTTP client."""

import json
import shutil
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from docs_lines import run_lines
from service import Service, serving

from localfact.annotation.serving import listen_at
from localfact.api.check import check
from localfact.api.evaluate import evaluate
from localfact.api.report import SHIPPED_LIMITS
from localfact.api.sample import sample_corpus, sample_responses
from localfact.api.shared_assessor import SharedAssessor
from localfact.errors import InputError, RunFolderError
from localfact.integrations.serving.jobs import Jobs
from localfact.integrations.serving.service import serve
from localfact.methods.options import Options
from localfact.report.explanations import NO_PROOF

pytestmark = pytest.mark.slow

TEXT = "Marie Curie was born in Warsaw. She died in 1934."
OPTIONS = Options(embedder="none", relations="lexical", corpus=sample_corpus())
ROWS = [json.loads(line) for line in sample_responses().read_text().splitlines()]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with serving(tmp_path_factory.mktemp("service") / "jobs") as served:
        yield served


def events_of(service: Service, address: str) -> list[tuple[str, dict[str, object]]]:
    """The events of a job until its end."""
    found, name = [], ""
    with service.client.stream("GET", address) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        for line in stream.iter_lines():
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                found.append((name, json.loads(line.removeprefix("data: "))))
    return found


def test_a_text_is_checked_as_the_command_checks_it_and_the_answer_says_by_whom(service: Service) -> None:
    answer = service.client.post("/check", json={"text": TEXT, "topic": "Marie Curie"}).json()
    assert answer["assessment"] == check(TEXT, topic="Marie Curie", options=OPTIONS).model_dump(mode="json")
    assert answer["judged_by"]["method"] == "builtin-fr2"
    assert answer["judged_by"]["relations"].startswith("lexical@")
    assert answer["judged_by"]["limits"] == f"{NO_PROOF} {SHIPPED_LIMITS}"


def test_a_text_that_brings_passages_is_checked_with_these(service: Service) -> None:
    body = {
        "text": "The mill at Orbe burned down in 1911.",
        "passages": ["The mill at Orbe burned down in 1911, say the books."],
    }
    found = service.client.post("/check", json=body).json()["assessment"]
    assert [verdict["label"] for verdict in found["verdicts"]] == ["supported"]
    assert [passage["text"] for passage in found["passages"]] == body["passages"]


def test_many_checks_at_once_are_each_answered_for_their_own_text(service: Service) -> None:
    def ask(year: int) -> str:
        answer = service.client.post("/check", json={"text": f"The mill at Orbe was built in {year}."})
        return str(answer.json()["assessment"]["claims"][0]["text"])

    with ThreadPoolExecutor(16) as clients:
        assert list(clients.map(ask, range(1800, 1840))) == [
            f"The mill at Orbe was built in {year}." for year in range(1800, 1840)
        ]


def test_rows_are_evaluated_as_a_job_that_is_watched_and_read(service: Service, tmp_path: Path) -> None:
    rows = [ROWS[0], TEXT, "The mill at Orbe burned down in 1911.", TEXT]
    taken = service.client.post("/evaluate", json={"rows": rows})
    assert taken.status_code == 202
    events = events_of(service, taken.json()["events"])
    assert [name for name, _ in events][-1] == "done"
    assert {name for name, _ in events[:-1]} <= {"progress"}
    assert all(event["judged_by"] == taken.json()["judged_by"] for _, event in events)
    job = service.client.get(taken.headers["location"]).json()
    assert (job["state"], job["rows"], job["rows_done"]) == ("done", 4, 4)
    as_mappings = [row if isinstance(row, dict) else {"response": row} for row in rows]
    by_hand = evaluate(as_mappings, options=OPTIONS, out=tmp_path / "run")
    assert job["summary"]["verdicts"] == by_hand.verdicts
    read = service.client.get(taken.json()["results"], params={"start": 2, "most": 2}).json()
    lines = (tmp_path / "run" / "assessments.jsonl").read_text().splitlines()
    assert read["rows"] == [json.loads(line) for line in lines[1:3]]
    assert (read["state"], read["judged_by"]) == ("done", job["judged_by"])


@pytest.mark.parametrize(
    ("path", "body", "status", "said"),
    [
        ("/check", {"text": ""}, 422, "text"),
        ("/check", {"text": TEXT, "model": "x"}, 422, "model"),
        ("/check", {"text": "word " * 20_001}, 422, "The text has 20,001 words"),
        ("/check", {"text": "x" * 2_000_001}, 413, "2,000,000 bytes"),
        ("/check", [TEXT], 422, "the body"),
        ("/evaluate", {"rows": []}, 422, "rows"),
        ("/evaluate", {"rows": [TEXT] * 10_001}, 422, "10000"),
        ("/evaluate", {"rows": [3]}, 422, "rows"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_reason(
    service: Service, path: str, body: object, status: int, said: str
) -> None:
    answer = service.client.post(path, json=body)
    assert answer.status_code == status
    assert said in answer.json()["error"]
    assert answer.json()["judged_by"]["limits"].startswith(NO_PROOF)


def test_a_page_of_somebody_else_s_can_neither_ask_nor_rebind_the_name(service: Service) -> None:
    body = json.dumps({"text": TEXT}).encode()
    as_json = {"content-type": "application/json"}
    assert service.client.post("/check", content=body, headers=as_json | {"origin": "https://evil.example"}).status_code == 403
    assert service.client.post("/check", content=body, headers={"content-type": "text/plain"}).status_code == 415
    assert service.client.get("/healthz", headers={"host": "evil.example"}).status_code == 421
    assert service.client.post("/check", content=b"{", headers=as_json).status_code == 400
    assert service.client.get("/jobs/..%2f..%2fetc").status_code == 404


def test_openapi_names_every_route_and_its_page_needs_nothing_else(service: Service) -> None:
    told = service.client.get("/openapi.json").json()
    for path in ("/healthz", "/check", "/evaluate", "/jobs/{job}", "/jobs/{job}/rows", "/jobs/{job}/events"):
        assert path in told["paths"]
    text = json.dumps(told)
    named = {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}
    assert named <= set(told["components"]["schemas"])
    page = service.client.get("/").text
    assert "POST /check" in page
    assert not any(word in page for word in ("<script", "<link", "src=", "http://", "https://"))
    assert service.client.get("/healthz").json()["status"] == "ok"


def test_a_job_goes_on_after_a_kill_to_the_bytes_of_an_undisturbed_run(tmp_path: Path) -> None:
    rows = ROWS[:3]
    with serving(tmp_path / "jobs", "--concurrency", "1") as first:
        place = first.client.post("/evaluate", json={"rows": rows}).headers["location"]
        waiting = first.client.post("/evaluate", json={"rows": [TEXT]}).headers["location"]
        with first.client.stream("GET", f"{place}/events") as stream:
            for line in stream.iter_lines():
                if line.startswith("data: ") and json.loads(line.removeprefix("data: "))["rows_done"] >= 1:
                    break
        first.end(signal.SIGKILL)
    folder = tmp_path / place.lstrip("/")
    done = (folder / "run" / "assessments.jsonl").read_bytes().count(b"\n")
    assert 1 <= done < len(rows)
    with serving(tmp_path / "jobs") as again:
        assert events_of(again, f"{place}/events")[-1][0] == "done"
        assert events_of(again, f"{waiting}/events")[-1][0] == "done"
        assert "Stopped." in again.end(signal.SIGINT)
        assert again.process.returncode == 0
    evaluate(folder / "rows.jsonl", options=OPTIONS, out=tmp_path / "by-hand")
    for name in ("assessments.jsonl", "run.yaml"):
        assert (folder / "run" / name).read_bytes() == (tmp_path / "by-hand" / name).read_bytes()
    timings = [json.loads(line)["index"] for line in (folder / "run" / "timings.jsonl").read_text().splitlines()]
    assert sorted(timings) == [0, 1, 2]  # what was done is not done again


def test_a_job_of_other_options_is_told_as_theirs_and_not_gone_on_with_by_these(tmp_path: Path) -> None:
    done, begun = "/jobs/000001-00000000", "/jobs/000002-00000000"
    for place in (done, begun):
        folder = tmp_path / place.lstrip("/")
        folder.mkdir(parents=True)
        (folder / "rows.jsonl").write_text(json.dumps({"response": TEXT}) + "\n")
        evaluate(folder / "rows.jsonl", method="builtin-fr1", options=OPTIONS, out=folder / "run")
    (tmp_path / begun.lstrip("/") / "run" / "summary.json").unlink()
    with serving(tmp_path / "jobs") as other:
        assert events_of(other, f"{begun}/events")[-1][0] == "failed"
        assert "method: builtin-fr1 -> builtin-fr2" in other.client.get(begun).json()["error"]
        for place in (done, f"{done}/rows", begun, f"{begun}/rows"):
            assert other.client.get(place).json()["judged_by"]["method"] == "builtin-fr1"


def test_ctrl_c_ends_a_watched_job_at_once_and_it_waits_on_the_disk(tmp_path: Path) -> None:
    with serving(tmp_path / "jobs") as service:
        place = service.client.post("/evaluate", json={"rows": ROWS}).headers["location"]
        with httpx.stream("GET", f"{service.client.base_url}{place}/events", timeout=60) as stream:
            lines = stream.iter_lines()
            next(lines)
            service.process.send_signal(signal.SIGINT)
            assert not [line for line in lines if line == "event: done"]
        service.process.wait(60)
        assert service.process.returncode == 0
        assert "Traceback" not in service.process.stderr.read()  # type: ignore[union-attr]
    assert not (tmp_path / place.lstrip("/") / "run" / "summary.json").exists()


def test_who_reaches_it_from_elsewhere_shows_the_token_and_it_stays(tmp_path: Path) -> None:
    with serving(tmp_path / "jobs", "--host", "0.0.0.0") as service:
        token = (tmp_path / "jobs" / "token").read_text()
        assert (tmp_path / "jobs" / "token").stat().st_mode & 0o777 == 0o600
        assert service.link.endswith(f"?token={token}")
        assert service.client.get("/healthz").status_code == 401
        assert service.client.get("/healthz", headers={"authorization": "Bearer wrong"}).status_code == 401
        assert service.client.get("/healthz", headers={"authorization": f"Bearer {token}"}).status_code == 200
        opened = service.client.get(f"/?token={token}", follow_redirects=True)
        assert (opened.status_code, opened.url.path) == (200, "/")
        service.end()
    assert (tmp_path / "jobs" / "token").read_text() == token


def test_two_services_do_not_share_their_jobs(tmp_path: Path) -> None:
    with SharedAssessor(options=OPTIONS) as shared, Jobs(tmp_path / "jobs", shared):
        with pytest.raises(RunFolderError, match="name another folder with --jobs"):
            Jobs(tmp_path / "jobs", shared)
        (tmp_path / "linked").mkdir()
        (tmp_path / "linked" / "token").symlink_to(tmp_path / "elsewhere")
        with pytest.raises(InputError, match="is a symbolic link"):
            Jobs(tmp_path / "linked", shared)


def test_a_port_or_a_folder_that_is_taken_is_told_before_models_are_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with SharedAssessor(options=OPTIONS) as shared, listen_at("127.0.0.1", 0) as taken:
        monkeypatch.setattr(shared, "open", pytest.fail)
        with pytest.raises(InputError, match="Name another --port"):
            serve(shared, tmp_path / "jobs", "127.0.0.1", taken.getsockname()[1], ready=print)
        with Jobs(tmp_path / "jobs", shared), pytest.raises(RunFolderError, match="Another process"):
            serve(shared, tmp_path / "jobs", "127.0.0.1", 0, ready=print)


def test_a_job_whose_files_are_gone_or_damaged_is_told_as_that_wherever_it_is_asked_for(service: Service) -> None:
    gone, empty, damaged = (service.client.post("/evaluate", json={"rows": [TEXT]}).headers["location"] for _ in range(3))
    for place in (gone, empty, damaged):
        assert events_of(service, f"{place}/events")[-1][0] == "done"
    shutil.rmtree(service.jobs / Path(gone).name)
    shutil.rmtree(service.jobs / Path(empty).name / "run")
    (service.jobs / Path(damaged).name / "run" / "run.yaml").write_text("{")
    for part in ("", "/rows", "/events"):
        found = [service.client.get(place + part) for place in (gone, empty, damaged)]
        assert [one.status_code for one in found] == [404, 500, 500]
        said = [one.json()["error"] for one in found]
        assert all(
            part in whole for part, whole in zip(("no such job", "is not a run folder", "is damaged"), said, strict=True)
        )


def test_a_job_that_is_deleted_while_it_is_watched_ends_its_events(service: Service) -> None:
    long, watched = (service.client.post("/evaluate", json={"rows": rows}).headers["location"] for rows in (ROWS[1:4], [TEXT]))
    with service.client.stream("GET", f"{watched}/events") as stream:
        lines = stream.iter_lines()
        assert next(lines) == "event: progress"
        shutil.rmtree(service.jobs / Path(watched).name)
        assert "event: failed" in list(lines)
    assert events_of(service, f"{long}/events")[-1][0] == "done"


def test_the_lines_of_the_documentation_do_what_they_say(service: Service, capsys: pytest.CaptureFixture[str]) -> None:
    names = run_lines("A service", {"http://127.0.0.1:8738": str(service.client.base_url)})
    assert [row["status"] for row in names["rows"]] == ["scored", "scored"]
    said = capsys.readouterr().out
    assert "supported Marie Curie was born in Warsaw." in said
    assert "event: done" in said
    assert NO_PROOF in said
