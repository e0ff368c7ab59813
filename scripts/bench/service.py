"""Two hundred checks at once against `localfact serve`, on the sample's corpus with word overlap: how long each is waited for.

Every answer is compared with what the same text gets alone: none is lost, and none is somebody else's.
"""

import json
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import numpy as np
from rich.table import Table

from localfact.api.sample import sample_responses
from localfact.text import sentences
from scripts.serving import serve

#: Checks at once at --size 1, each of so many sentences of the sample.
CHECKS, SENTENCES = 200, 3
#: Seconds that an answer may take on a machine that has other things to do.
PATIENCE = 600
#: Word overlap and BM25, which load nothing.
QUICK = ("--relations", "lexical", "--embedder", "none")


class Answer(NamedTuple):
    """What one check was answered, and after how many seconds; None for none."""

    assessment: dict[str, Any] | None
    seconds: float


def tables(size: float) -> Iterator[tuple[str, Table]]:
    """The table of all checks at once, and of the same one after the other."""
    texts = made_texts(max(2, int(CHECKS * size)))
    with ExitStack() as opened:
        jobs = Path(opened.enter_context(tempfile.TemporaryDirectory())) / "jobs"
        address = opened.enter_context(serve("serve", "--jobs", str(jobs), "--port", "0", *QUICK, told="Listening at"))
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
        client = opened.enter_context(httpx.Client(base_url=address, timeout=PATIENCE, limits=limits))
        begun = time.perf_counter()
        with ThreadPoolExecutor(len(texts)) as clients:
            together = list(clients.map(lambda text: check(client, text), texts))
        whole = time.perf_counter() - begun
        alone = [check(client, text) for text in texts]
    times, single = (np.array([one.seconds for one in answers]) for answers in (together, alone))
    table = Table("what", "figure")
    for name, figure in (
        ("not answered", f"{sum(one.assessment is None for one in together)}"),
        ("answered otherwise than alone", f"{differing(together, alone)}"),
        ("checks a second", f"{len(texts) / whole:,.1f}"),
        ("answered in, median", f"{np.median(times):.2f} s"),
        ("answered in, 95 %", f"{np.quantile(times, 0.95):.2f} s"),
        ("answered in, slowest", f"{times.max():.2f} s"),
        ("alone, median", f"{np.median(single) * 1000:.0f} ms"),
        ("alone, 95 %", f"{np.quantile(single, 0.95) * 1000:.0f} ms"),
    ):
        table.add_row(name, figure)
    yield f"{len(texts)} checks of {SENTENCES} sentences at once against localfact serve", table


def differing(together: list[Answer], alone: list[Answer]) -> int:
    """How many checks were answered otherwise than the same text alone."""
    return sum(one.assessment != other.assessment for one, other in zip(together, alone, strict=True))


def check(client: httpx.Client, text: str) -> Answer:
    """Asks for one check; whoever asks meanwhile has another connection."""
    begun = time.perf_counter()
    try:
        answer = client.post("/check", json={"text": text})
        found = answer.json().get("assessment") if answer.status_code == 200 else None
    except (httpx.HTTPError, ValueError):
        found = None
    return Answer(found, time.perf_counter() - begun)


def made_texts(count: int) -> list[str]:
    """Texts of neighbouring sentences of the sample's responses, no two of them the same."""
    found = []
    for line in sample_responses().read_text(encoding="utf-8").splitlines():
        text = json.loads(line)["response"]
        spans = sentences(text)
        found += [text[spans[at].start : spans[at + SENTENCES - 1].end] for at in range(len(spans) - SENTENCES + 1)]
    if len(set(found)) < count:
        raise ValueError(f"The sample has no {count} texts of {SENTENCES} sentences.")
    return list(dict.fromkeys(found))[:count]
