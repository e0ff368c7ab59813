"""Keeps in a transcript what a retriever found, and gives it back in a replay.

Which passages a claim gets hangs on the last digits of an embedder, which another processor rounds otherwise. A replay that
searched anew could ask the language model about a pair that the recorded run never asked about.
"""

import asyncio
import hashlib
import json
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from localfact.llm.layers.transcript_errors import damage_error
from localfact.llm.layers.transcript_store import CallStore
from localfact.records import Claim, Evidence, Response
from localfact.stages import Retriever


class RecordingRetriever:
    """A retriever that records its evidence in a transcript, unless a search failed: a later run may find more.

    Args:
        retriever: finds the evidence.
        file: the transcript, which is made if it is not there.
        settings: all that decides what is found, besides response and claims.

    Raises:
        WriteError: the file cannot be written. InputError: it is no transcript, another version's, or damaged.
    """

    def __init__(self, retriever: Retriever, file: Path, settings: str) -> None:
        self._retriever = retriever
        self._settings = settings
        self._store = CallStore.to_record(file)
        self._lock = threading.Lock()

    async def retrieve(self, response: Response, claims: Sequence[Claim]) -> Evidence:
        """The evidence that the retriever finds, once it is kept."""
        evidence = await self._retriever.retrieve(response, claims)
        if not evidence.failures:
            await asyncio.to_thread(self._keep, evidence_key(self._settings, response, claims), evidence)
        return evidence

    def _keep(self, key: bytes, evidence: Evidence) -> None:
        with self._lock:
            self._store.keep_evidence(key, json.dumps(evidence.model_dump(mode="json")))

    def close(self) -> None:
        """Closes the file."""
        self._store.close()


class ReplayingRetriever:
    """Gives the evidence that a transcript keeps, and opens a retriever only for what it does not keep.

    Args:
        file: the transcript.
        settings: as for the `RecordingRetriever`.
        open_retriever: called at most once, in a thread.

    Raises:
        MissingError: there is no such file. InputError: it is no transcript, another version's, or damaged.
    """

    def __init__(self, file: Path, settings: str, open_retriever: Callable[[], Retriever]) -> None:
        self._settings = settings
        self._open_retriever = open_retriever
        self._opened: Retriever | None = None
        self._store = CallStore.to_replay(file)
        self._lock = threading.Lock()

    async def retrieve(self, response: Response, claims: Sequence[Claim]) -> Evidence:
        """The recorded evidence; where there is none, what the retriever finds.

        Raises:
            InputError: what is recorded is no evidence. Else as the retriever, or the opening of it.
        """
        recorded = await asyncio.to_thread(self._find, evidence_key(self._settings, response, claims))
        if recorded is not None:
            return recorded
        retriever = await asyncio.to_thread(self._open)
        return await retriever.retrieve(response, claims)

    def _find(self, key: bytes) -> Evidence | None:
        with self._lock:
            recorded = self._store.find_evidence(key)
        try:
            return None if recorded is None else Evidence.model_validate(json.loads(recorded))
        except ValueError as error:  # also of pydantic
            raise damage_error(self._store.file, "the passages of a response are not in their schema") from error

    def _open(self) -> Retriever:
        with self._lock:
            if self._opened is None:
                self._opened = self._open_retriever()
            return self._opened

    def close(self) -> None:
        """Closes the file."""
        self._store.close()


def evidence_key(settings: str, response: Response, claims: Sequence[Claim]) -> bytes:
    """The key of what was found for these claims: 32 bytes that no other settings, response or claims have.

    Which sample of a log the response is, what it cites, and what a model thinks of the claims decides nothing.
    """
    decides = [
        settings,
        response.model_dump(mode="json", exclude={"sample", "sources"}),
        *(one.model_dump(mode="json", exclude={"preverification"}) for one in claims),
    ]
    return hashlib.sha256(json.dumps(decides).encode()).digest()
