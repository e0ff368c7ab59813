"""Pages extracted and passages embedded by the nodes of a real Ray cluster: the corpus is the one that one machine makes."""

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from small_web import HOSTS, small_web
from typer.testing import CliRunner

from localfact.api.evaluate import prepare
from localfact.api.fetch import fetch
from localfact.cli.main import app
from localfact.cluster import pages as cluster_pages
from localfact.cluster import tasks
from localfact.cluster.joining import connect, leave
from localfact.cluster.pages import ClusterEmbedder, ClusterExtractors, ClusterMachines, document_of, machines_of
from localfact.cluster.tasks import RemoteTask
from localfact.corpus.build import build_corpus
from localfact.corpus.corpus import read_description
from localfact.errors import EngineError, InputError, MissingError
from localfact.methods.machines import ThisMachine
from localfact.methods.options import Options
from localfact.models.cards import everywhere
from localfact.models.embedder import Embedder
from localfact.web.extracting.extractors import Extractors
from localfact.web.fetching.failures import PageError, Reason
from localfact.web.pages import Page

if TYPE_CHECKING:
    from ray.cluster_utils import Cluster as LocalCluster

pytestmark = pytest.mark.models
PAGES = 40
ARTICLE = "<html><head><title>Mill {0}</title></head><body><article>{1}</article></body></html>"
LINE = "<p>Mill {0} stands in the valley of the river Ard and grinds {1} sacks of rye a day. Its wheel is of oak.</p>"


@pytest.fixture(scope="module")
def nodes() -> Iterator["LocalCluster"]:
    from ray.cluster_utils import Cluster as LocalCluster

    cluster = LocalCluster()
    for _ in range(2):
        cluster.add_node(num_cpus=1)
    assert connect(cluster.address)
    yield cluster
    leave()
    cluster.shutdown()


def machines() -> ClusterMachines:
    with machines_of("auto") as found:  # this process has joined already, and stays
        return found


def files_of(folder: Path) -> dict[str, bytes]:
    """Everything that decides what is found, byte by byte; the store's bytes depend on its order of writing."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.glob("segments/*/*")}


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mills")
    for number in range(PAGES):
        (folder / f"{number:02}.html").write_text(ARTICLE.format(number, LINE.format(number, number + 7) * 40))
    (folder / "empty.html").write_text("<html></html>")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 nothing")
    return folder


def test_a_corpus_built_by_a_cluster_that_loses_a_node_is_that_of_one_machine(
    tmp_path: Path, nodes: "LocalCluster", collection: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = CliRunner().invoke(app, ["corpus", "build", str(collection), "--out", str(tmp_path / "alone"), "--json"])
    assert alone.exit_code == 0, alone.output
    third = nodes.add_node(num_cpus=1)
    begun = 0
    begin = RemoteTask.begin

    def begin_and_lose_a_node(task: RemoteTask[..., Any], *asked: Any) -> Any:
        nonlocal begun
        begun += 1
        if begun == PAGES // 2:
            nodes.remove_node(third, allow_graceful=False)
        return begin(task, *asked)

    monkeypatch.setattr(RemoteTask, "begin", begin_and_lose_a_node)
    words = ["corpus", "build", str(collection), "--out", str(tmp_path / "shared"), "--ray", "auto", "--json"]
    shared = CliRunner().invoke(app, words)
    assert shared.exit_code == 0, shared.output
    assert begun > PAGES  # pages, then batches of passages of two kinds
    told = [json.loads(result.stdout) for result in (alone, shared)]
    assert told[0] | {"corpus": ""} == told[1] | {"corpus": ""}
    assert told[1]["passed_over"] == 2
    assert read_description(tmp_path / "shared").content == read_description(tmp_path / "alone").content
    assert files_of(tmp_path / "shared") == files_of(tmp_path / "alone")


def test_more_is_added_and_merged_by_a_cluster(
    tmp_path: Path, nodes: "LocalCluster", collection: Path, pages: list[Page]
) -> None:
    rows = tmp_path / "pages.jsonl"
    rows.write_text("".join(json.dumps({"url": page.link, "title": page.title, "text": page.text}) + "\n" for page in pages))
    built = str(tmp_path / "corpus")
    for words in (
        ["build", str(rows), "--out", built, "--passages", "chunks", "--ray", "auto"],
        ["add", built, str(collection), "--ray", "auto"],
        ["merge", built, "--passages", "pages", "--ray", "auto"],
    ):
        done = CliRunner().invoke(app, ["corpus", *words])
        assert done.exit_code == 0, done.output
    description = read_description(Path(built))
    assert description.pages == len(pages) + PAGES
    assert description.segments["pages"].passages == len(pages) + PAGES


async def test_a_page_that_gives_none_gives_the_same_reason_as_here(nodes: "LocalCluster") -> None:
    shared, own = machines().extractors(), Extractors(1)
    try:
        for body, media_type in ((b"<html></html>", "text/html"), (b"%PDF-1.7 nothing", "application/pdf")):
            reasons = []
            for extractors in (shared, own):
                with pytest.raises(PageError) as caught:
                    await extractors.extract(body, media_type, None, "https://a.example/")
                reasons.append(caught.value.failure)
            assert reasons[0] == reasons[1]
        body = ARTICLE.format(1, LINE.format(1, 2) * 5).encode()
        documents = [await each.extract(body, "text/html", None, "https://a.example/") for each in (shared, own)]
        assert documents[0] == documents[1]
        assert shared.extract_now(body, "text/html", None, "https://a.example/") == documents[0]
    finally:
        own.close()
        shared.close()


def test_vectors_are_those_of_this_machine_and_come_in_order(nodes: "LocalCluster", minilm: Embedder) -> None:
    shared = machines().embedder("minilm")
    assert shared is not None
    assert (shared.identity, shared.dimension) == (minilm.identity, minilm.dimension)
    long = "A comet was seen over the harbour. " * 200
    batches = [[f"Text {number}.", long[number:]] for number in range(9)] + [[]]
    for here, there in zip(minilm.embed_each(batches), shared.embed_each(iter(batches)), strict=True):
        assert list(here.counts) == list(there.counts)
        assert here.vectors.tobytes() == there.vectors.tobytes()
    assert machines().embedder("none") is None


def test_no_more_batches_wait_than_keep_all_machines_busy(nodes: "LocalCluster", minilm: Embedder) -> None:
    shared, read = ClusterEmbedder(minilm, "minilm", nodes=2, cpus=2, gpus=0), 0

    def batches() -> Iterator[list[str]]:
        nonlocal read
        for number in range(12):
            read += 1
            yield [f"Text {number}."]

    found = shared.embed_each(batches())
    next(found)
    assert read == 4
    assert len(list(found)) == 11


def test_a_machine_with_other_weights_or_none_is_refused(nodes: "LocalCluster", minilm: Embedder, tmp_path: Path) -> None:
    class Other(Embedder):
        def __init__(self) -> None:
            self.identity, self.dimension = "minilm@other", minilm.dimension

    with pytest.raises(InputError, match=rf"has {minilm.identity} for the embedder minilm, not minilm@other"):
        list(ClusterEmbedder(Other(), "minilm", 2, 2, 0).embed_each([["A text."]]))
    with pytest.raises(MissingError, match="nowhere"):
        list(ClusterEmbedder(Other(), "nowhere", 2, 2, 0).embed_each([["A text."]]))


async def test_what_ends_every_process_is_an_error_after_some_tries(nodes: "LocalCluster", tmp_path: Path) -> None:
    def ends(file: str) -> None:
        with Path(file).open("a") as trace:
            trace.write("x")
        os.kill(os.getpid(), signal.SIGKILL)

    def fails() -> None:
        raise ZeroDivisionError("a bug")

    task = RemoteTask(ends)
    with pytest.raises(EngineError, match="A worker failed"):
        task.end(task.begin(str(tmp_path / "trace")))
    assert (tmp_path / "trace").read_text() == "xxxx"
    other = RemoteTask(fails)
    with pytest.raises(EngineError, match="a bug"):
        other.end(other.begin())
    with pytest.raises(EngineError, match="a bug"):
        await other.await_end(other.begin())


def test_calls_are_spread_over_the_machines(nodes: "LocalCluster", tmp_path: Path) -> None:
    def where() -> str:
        """The node's id, when another node has one of the calls, too; or after a while, when none has."""
        import ray

        here = str(ray.get_runtime_context().get_node_id())
        (tmp_path / here).touch()
        until = time.monotonic() + 60
        while len(list(tmp_path.iterdir())) < 2 and time.monotonic() < until:
            time.sleep(0.05)
        return here

    task = RemoteTask(where)
    begun = [task.begin() for _ in range(6)]
    assert len({task.end(each) for each in begun}) == 2


async def test_a_call_that_no_machine_answers_is_told(nodes: "LocalCluster", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "PATIENCE", 0.5)
    greedy = RemoteTask(lambda: None, cpus=64)
    said = r"no answer for 0\.5 seconds: what is asked needs 64 CPUs of one machine"
    with pytest.raises(EngineError, match=said):
        greedy.end(greedy.begin())
    with pytest.raises(EngineError, match=said):
        await greedy.await_end(greedy.begin())


def test_a_machine_that_reads_pages_otherwise_is_refused(nodes: "LocalCluster", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_pages, "own_readers", lambda: {"trafilatura": "0.1"})
    with pytest.raises(InputError, match=r"reads pages with .*trafilatura.*, not \{'trafilatura': '0\.1'\}"):
        ClusterExtractors(2).extract_now(b"<p>A page.</p>", "text/html", None, "https://a.example/")


def test_a_cluster_without_cpus_is_told(nodes: "LocalCluster", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ray.nodes", lambda: [{"Alive": True, "Resources": {"memory": 1.0}}])
    with pytest.raises(InputError, match="no node with CPUs"), machines_of("auto"):
        pass


@pytest.mark.parametrize("name", ["minilm", "weights"])
def test_a_path_is_named_in_full_and_a_card_by_its_name_even_where_a_folder_is_called_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).mkdir()
    assert everywhere(name) == ("minilm" if name == "minilm" else str(tmp_path / "weights"))
    assert everywhere("owner/name") == "owner/name"


def test_a_reason_is_raised_and_a_document_returned() -> None:
    with pytest.raises(PageError) as caught:
        document_of(PageError(Reason.TOO_LARGE, "memory").failure)
    assert caught.value.failure.reason == Reason.TOO_LARGE


def test_another_machines_help_needs_no_embedder(tmp_path: Path, nodes: "LocalCluster", pages: list[Page]) -> None:
    build_corpus(pages, tmp_path / "corpus", machines().embedder("none"))
    assert read_description(tmp_path / "corpus").embedder is None


def test_pages_are_fetched_by_this_process_alone_and_read_by_the_machines(tmp_path: Path, nodes: "LocalCluster") -> None:
    found = []
    for name, own in (("alone", ThisMachine()), ("shared", machines())):
        (tmp_path / name).mkdir()
        with small_web(tmp_path / name) as web:
            options = Options(
                corpus=tmp_path / name / "web",
                providers=("searxng",),
                searxng_url=web.engine.url,
                allow_hosts=HOSTS,
                host_delay=0.0,
                embedder="minilm",
            )
            done = fetch(prepare(web.data, options=options), machines=own)
            assert done.corpus is not None
            found.append((done.sent, done.without_page, done.corpus.segments, sorted(one.path for one in web.site.asked)))
    assert found[0] == found[1]
    assert found[1][0] == {"searches": 24, "pages": 7, "pages_failed": 1}
