"""Where the pages of a corpus are extracted and its passages embedded: here, or on many machines (`cluster.pages`)."""

from typing import Protocol

from localfact.corpus.indexing.dense_index import PassageEmbedder
from localfact.models.embedder import open_embedder
from localfact.web.extracting.extractors import Extractors, PageExtractors


class Machines(Protocol):
    """One machine, or several, that extract pages and embed passages."""

    def extractors(self) -> PageExtractors:
        """The page extractors; the caller closes them."""

    def embedder(self, name: str) -> PassageEmbedder | None:
        """The embedder that the user named; None if the user wants none.

        Raises:
            MissingError, InputError: as `open_embedder`.
        """


class ThisMachine:
    """The machine that this process runs on, alone."""

    def extractors(self) -> PageExtractors:
        """Extractors with one process for each core."""
        return Extractors()

    def embedder(self, name: str) -> PassageEmbedder | None:
        """The embedder, loaded."""
        return open_embedder(name)


THIS_MACHINE = ThisMachine()
