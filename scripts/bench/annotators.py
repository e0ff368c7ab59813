"""Ten annotators at once: how quickly the server answers each step, and that every judgement it took is in the export."""

import html
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx
import numpy as np
from rich.table import Table

from localfact.annotation.gold import gold_rows
from localfact.annotation.project import DATABASE, create
from localfact.annotation.store import AnnotationStore
from localfact.annotation.tasks import AnnotationTask, MachineClaim

#: People, responses each of them is given, claims of a response, and seconds at --size 1.
ANNOTATORS, RESPONSES, CLAIMS = 10, 150, 20
SECONDS = 60.0
LABELS = ("supported", "refuted", "conflicting evidence", "not enough evidence", "irrelevant")


class Saved(NamedTuple):
    """What one annotator was told is saved: (response, claim) -> label; and how long each answer took, in seconds."""

    labels: dict[tuple[str, str], str]
    times: list[float]


def tables(size: float) -> Iterator[tuple[str, Table]]:
    """The table of what a minute of ten people gives."""
    with tempfile.TemporaryDirectory() as folder:
        seconds = SECONDS * size
        judged = annotate(Path(folder) / "project", seconds)
        times = np.array([one for person in judged for one in person.times])
        lost = missing(Path(folder) / "project", judged)
    table = Table("what", "figure")
    for name, figure in (
        ("judgements saved", f"{sum(len(one.labels) for one in judged):,}"),
        ("of them not in the export", f"{lost}"),
        ("steps a second", f"{len(times) / seconds:,.0f}"),
        ("answered in, median", f"{np.median(times) * 1000:.0f} ms"),
        ("answered in, 95 %", f"{np.quantile(times, 0.95) * 1000:.0f} ms"),
        ("answered in, slowest", f"{times.max() * 1000:.0f} ms"),
    ):
        table.add_row(name, figure)
    yield f"{ANNOTATORS} annotators for {seconds:.0f} s, each as fast as it is answered", table


def annotate(folder: Path, seconds: float) -> list[Saved]:
    """Lets them work on a new project with a server of its own."""
    create(folder, [made_task(number) for number in range(ANNOTATORS * RESPONSES)], made_of="made", overlap=0.0)
    with served(folder) as address, ThreadPoolExecutor(ANNOTATORS) as people:
        until = time.monotonic() + seconds
        return list(people.map(lambda number: person(address, f"annotator {number}", until), range(ANNOTATORS)))


def person(address: str, name: str, until: float) -> Saved:
    """One annotator, who judges claim after claim until the time is over, and one at least however slow the machine is."""
    labels: dict[tuple[str, str], str] = {}
    times: list[float] = []
    with httpx.Client(base_url=address, headers={"origin": address.rstrip("/")}, follow_redirects=True, timeout=60) as client:
        client.post("/sign-in", data={"name": name}).raise_for_status()
        while not labels or time.monotonic() < until:
            page = client.get("/next")
            found = re.search(r"/responses/(\d+)/claims", str(page.url))
            if found is None:
                break
            place, number = f"/responses/{found[1]}/judge", int(found[1])
            text = client.get(place).text
            while not labels or time.monotonic() < until:
                form = forms(text).get("judge") or forms(text).get("finish")
                if form is None:
                    break
                done = "finish" in form["kind"]
                label = LABELS[len(labels) % len(LABELS)]
                begun = time.perf_counter()
                answer = client.post(place, data=form if done else form | {"label": label, "agreed": ""}, headers=PARTLY)
                times.append(time.perf_counter() - begun)
                answer.raise_for_status()
                if done:
                    break
                labels[f"made-{number}", form["claim"]] = label
                text = answer.text if "Every claim has its label" not in answer.text else finishing(answer.text)
    return Saved(labels, times)


PARTLY = {"hx-request": "true"}


def finishing(text: str) -> str:
    """A page without its forms that judge: all is judged."""
    return "".join(form for form in re.findall(r"<form.*?</form>", text, re.DOTALL) if 'value="finish"' in form)


def forms(text: str) -> dict[str, dict[str, str]]:
    """Kind of step -> the fields of the first form of a page that makes one."""
    found: dict[str, dict[str, str]] = {}
    for form in re.findall(r"<form.*?</form>", text, re.DOTALL):
        fields = {name: html.unescape(value) for name, value in re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form)}
        found.setdefault(fields.get("kind", ""), fields)
    return found


def missing(folder: Path, judged: list[Saved]) -> int:
    """How many judgements that the server said were saved are not in the export, or in the work that is not finished."""
    store = AnnotationStore(folder / DATABASE)
    exported = {(row["id"], claim["id"]): claim.get("label") for row in gold_rows(store) for claim in row["claims"]}
    for one in store.progress():
        if not one.finished:
            work = store.work(one.position, one.annotator)
            exported |= {(one.id, claim.id): claim.label for claim in work.claims}
    store.close()
    return sum(exported.get(key) != label for person_ in judged for key, label in person_.labels.items())


def made_task(number: int) -> AnnotationTask:
    """A response with claims."""
    words = [f"The mill of place {number} has {count} doors." for count in range(1, CLAIMS + 1)]
    claims = tuple(MachineClaim(id=f"c{count}", text=text) for count, text in enumerate(words, start=1))
    return AnnotationTask(id=f"made-{number + 1}", text=" ".join(words), claims=claims)


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """A server in a process of its own, and its address."""
    words = [sys.executable, "-m", "localfact", "annotate", str(folder), "--port", "0"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        for line in process.stderr:
            if found := re.search(r"Open (http://\S+/)", line):
                yield found[1]
                return
        raise RuntimeError("no server")
    finally:
        process.terminate()
        process.wait()
        process.stderr.close()
