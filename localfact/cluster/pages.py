"""Makes a corpus with the machines of a cluster: they extract the texts of pages and embed passages.

One process fetches the pages and writes the corpus, so that web servers are asked as slowly as without a cluster. Ray itself is
in tasks.py and joining.py.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache

from localfact.cluster.joining import connect, find_resources, leave
from localfact.cluster.tasks import RemoteTask
from localfact.errors import InputError
from localfact.models.cards import everywhere
from localfact.models.embedder import Embedded, Embedder, open_embedder
from localfact.runtime.versions import versions
from localfact.web.extracting.extraction import Document
from localfact.web.extracting.extractors import Extractors
from localfact.web.fetching.failures import PageError, PageFailure

#: What makes texts of pages.
READERS = ("localfact", "trafilatura", "lxml", "pypdfium2")
#: Calls that wait beside those at work, for each of these: enough that no machine does.
AHEAD = 2


@lru_cache
def own_embedder(name: str) -> Embedder | None:
    """The embedder of that name, loaded once in a process."""
    return open_embedder(name)


def embed(name: str, identity: str, passages: Sequence[str]) -> Embedded:
    """Embeds passages; called on the machines.

    Raises:
        MissingError: the weights are not there. InputError: they are others.
    """
    embedder = own_embedder(name)
    if embedder is None or embedder.identity != identity:
        raise InputError(
            f"A machine of the cluster has {embedder and embedder.identity} for the embedder {name}, not {identity}."
        )
    (made,) = embedder.embed_each([passages])
    return made


@lru_cache
def own_readers() -> Mapping[str, str]:
    """The versions, on this machine, of the libraries that extract text."""
    return versions(READERS)


@lru_cache
def own_extractors() -> Extractors:
    """One process for extraction, which ends with the process that asks it."""
    return Extractors(1)


def extract(readers: Mapping[str, str], body: bytes, media_type: str, charset: str | None, link: str) -> Document | PageFailure:
    """Extracts the text of a page, or says why there is none; called on the machines.

    Raises:
        InputError: this machine has other versions of what reads pages.
    """
    if own_readers() != readers:
        raise InputError(
            f"A machine of the cluster reads pages with {own_readers()}, not {dict(readers)}. Install the same on all."
        )
    try:
        return own_extractors().extract_now(body, media_type, charset, link)
    except PageError as error:
        return error.failure


class ClusterEmbedder:
    """Embeds passages on all machines of the cluster at once: a `PassageEmbedder`.

    Args:
        own: the embedder as it is here.
        name: a card, or a folder at the same place everywhere. nodes, cpus, gpus: of the cluster.
    """

    def __init__(self, own: Embedder, name: str, nodes: int, cpus: int, gpus: int) -> None:
        self.identity, self.dimension = own.identity, own.dimension
        self._name = everywhere(name)
        # On CPUs a call has a whole node, whose cores divide its passages.
        places = gpus or nodes
        self._task = RemoteTask(embed, cpus=1, gpus=1) if gpus else RemoteTask(embed, cpus=max(1, cpus // places))
        self._most = places * AHEAD

    def embed_each(self, batches: Iterable[Sequence[str]]) -> Iterator[Embedded]:
        """The vectors of the passages of each batch, in the order of the batches."""
        begun: deque[object] = deque()
        for passages in batches:
            begun.append(self._task.begin(self._name, self.identity, passages))
            if len(begun) >= self._most:
                yield self._task.end(begun.popleft())
        while begun:
            yield self._task.end(begun.popleft())


class ClusterExtractors:
    """Extracts the texts of pages on all machines of the cluster: in place of `web.extracting.extractors.Extractors`.

    Attributes:
        at_once: how many pages they extract at once.
    """

    def __init__(self, cpus: int) -> None:
        self.at_once = cpus
        self._task = RemoteTask(extract)

    async def extract(self, body: bytes, media_type: str, charset: str | None, link: str) -> Document:
        """Extracts the text of a page.

        Raises:
            PageError: as `Extractors.extract`. EngineError: as `RemoteTask.end`.
        """
        return document_of(await self._task.await_end(self._task.begin(own_readers(), body, media_type, charset, link)))

    def extract_now(self, body: bytes, media_type: str, charset: str | None, link: str) -> Document:
        """The blocking form of `extract`, for callers without an event loop."""
        return document_of(self._task.end(self._task.begin(own_readers(), body, media_type, charset, link)))

    def close(self) -> None:
        """Does nothing: the processes end with the cluster, or when it needs their resources."""


def document_of(answer: Document | PageFailure) -> Document:
    """Returns the extracted document.

    Raises:
        PageError: there is none.
    """
    if isinstance(answer, PageFailure):
        raise PageError(answer.reason, answer.detail)
    return answer


@dataclass(frozen=True)
class ClusterMachines:
    """The machines of a cluster: `localfact.methods.machines.Machines`.

    Attributes:
        nodes, cpus, gpus: how many it has.
    """

    nodes: int
    cpus: int
    gpus: int

    def extractors(self) -> ClusterExtractors:
        """Extractors with one process for each core of the cluster."""
        return ClusterExtractors(self.cpus)

    def embedder(self, name: str) -> ClusterEmbedder | None:
        """The embedder on each of their GPUs, or on each machine."""
        own = open_embedder(name)
        return None if own is None else ClusterEmbedder(own, name, self.nodes, self.cpus, self.gpus)


@contextmanager
def machines_of(address: str) -> Iterator[ClusterMachines]:
    """Joins the cluster at `address` for the block.

    Raises:
        MissingError: Ray is not installed. InputError: there is no such cluster.
    """
    joined = connect(address)
    try:
        yield ClusterMachines(*find_resources())
    finally:
        if joined:
            leave()
