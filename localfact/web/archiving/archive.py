"""Archives every answer of the web as it came, in WARC files (WARC 1.1, ISO 28500:2017) that any web-archive tool reads.

The fetcher's exchanges are appended here; the text of pages can be extracted from them again.
"""

import logging
import os
import re
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Self

from localfact.errors import CorpusError, InputError
from localfact.runtime.addresses import address_without_secrets
from localfact.runtime.files import sync, write_all, write_error, write_errors
from localfact.runtime.links import append_to
from localfact.web.archiving.warc_exchange import exchange_of, information, members_of
from localfact.web.archiving.warc_fields import MAX_HEAD_BYTES
from localfact.web.archiving.warc_records import DamagedError, Unzipped, record_follows, records
from localfact.web.fetching.exchange import Exchange

NAME = re.compile(r"pages-([0-9]{5,9})\.warc\.gz")
#: The largest payload that is archived, and expanded again; far above the fetcher's limit.
MAX_PAYLOAD_BYTES = 100_000_000
MAX_BLOCK_BYTES = MAX_PAYLOAD_BYTES + MAX_HEAD_BYTES

log = logging.getLogger(__name__)


@dataclass(frozen=True, order=True)
class Location:
    """The location of an exchange's response record in the archive.

    Attributes:
        file: the name of the WARC file, within the archive's folder.
        offset: where the record's gzip member begins in the file, in bytes.
        length: the length of that compressed member, in bytes.
    """

    file: str
    offset: int
    length: int


class Archive:
    """The files `pages-00001.warc.gz`, ... of one folder. Several threads may use one; only one process may append.

    An exchange is a response record followed by its request record. Once `append` has returned it is on the disk: a kill of
    the process or a crash of the machine loses nothing. Files are opened when first needed.

    Args:
        folder: where the files are, or will be.
        max_bytes: a file that would grow larger is followed by another.
        known_end: the last record that the corpus knows of. Before the first append, only what follows it in the last file is
            searched for the last complete record.
    """

    def __init__(self, folder: Path, *, max_bytes: int = 1_000_000_000, known_end: Location | None = None) -> None:
        self.folder = folder
        self._max_bytes = max_bytes
        self._known_end = known_end
        self._lock = threading.RLock()
        self._file: IO[bytes] | None = None
        self._path = folder
        self._end = 0
        self._holds_exchanges = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def append(self, exchange: Exchange) -> Location:
        """Adds an exchange. The first call removes an incomplete record, left by a kill, from the end of the last file.

        Raises:
            WriteError: the disk is full, for example; what was half written is removed.
            InputError: a payload of more than MAX_PAYLOAD_BYTES.
            CorpusError: the file that `known_end` names is missing, or shorter than it says.
        """
        if len(exchange.payload) > MAX_PAYLOAD_BYTES:
            link = address_without_secrets(exchange.url)
            raise InputError(f"{link} gave more than {MAX_PAYLOAD_BYTES:,} bytes. Lower the size limit of fetching.")
        response, request = members_of(exchange)
        with self._lock:
            self._prepare(len(response) + len(request))
            offset = self._end
            self._write(response + request)
            return Location(self._path.name, offset, len(response))

    def close(self) -> None:
        """Closes the file. A later append opens it again."""
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None

    def read(self, location: Location) -> Exchange:
        """The exchange at a location, in full.

        Raises:
            CorpusError: there is no such record, or it is not as it was written.
        """
        path = self._path_of(location)
        try:
            with path.open("rb") as file:
                file.seek(location.offset)
                found = records(Unzipped(file, zipped=True), MAX_BLOCK_BYTES)
                response = next(found, None)
                if response is None or response.end != location.offset + location.length:
                    raise DamagedError(location.offset, "no record begins and ends there")
                request = None
                with suppress(DamagedError):  # after a kill the request may be missing
                    request = next(found, None)
                return exchange_of(response, request)
        except DamagedError as damage:
            raise damage_error(path, damage) from None
        except OSError as error:
            raise CorpusError(f"{path} cannot be read: {error.strerror}. Copy the corpus again.") from error

    def _files(self) -> list[Path]:
        """The files of the archive, oldest first."""
        found = self.folder.iterdir() if self.folder.is_dir() else ()
        return sorted(path for path in found if NAME.fullmatch(path.name))

    def _path_of(self, location: Location) -> Path:
        """The path of the file that is named; a corpus from strangers cannot name one outside the folder."""
        if not NAME.fullmatch(location.file) or location.offset < 0:
            raise CorpusError(f"{location.file}, byte {location.offset}, is no place in an archive. Copy the corpus again.")
        return self.folder / location.file

    def _prepare(self, size: int) -> None:
        """Opens the file to append to: the last one, repaired if need be, or a new one."""
        if self._file is None:
            with write_errors(self.folder):
                self.folder.mkdir(parents=True, exist_ok=True)
                files = self._files()
                path = files[-1] if files else self.folder / name_of(1)
                if self._known_end and (not files or self._known_end.file > path.name):
                    raise CorpusError(
                        f"{self.folder} lacks {self._known_end.file}, which the corpus names. Copy the corpus again."
                    )
                end = self._make_whole(path) if files else 0
                if end is None:
                    path, end = self._next(path), 0
                self._open(path, end)
        elif self._holds_exchanges and self._end + size > self._max_bytes:
            path = self._next(self._path)
            self.close()
            with write_errors(path):
                self._open(path, 0)

    def _next(self, path: Path) -> Path:
        """The file that comes after this one."""
        return self.folder / name_of(int(NAME.sub(r"\1", path.name)) + 1)

    def _open(self, path: Path, end: int) -> None:
        """Opens a file for appending at `end`, with a warcinfo record first if it is empty."""
        self._path, self._end = path, end
        self._holds_exchanges = end > 0
        self._file = append_to(path, buffering=0)
        if end == 0:
            self._write(information(path.name))
            self._holds_exchanges = False
            sync(self.folder)

    def _write(self, content: bytes) -> None:
        """Writes all of it or, if that fails, nothing."""
        assert self._file is not None
        try:
            write_all(self._file, content)
            os.fsync(self._file.fileno())
        except OSError as error:
            # If even this fails, the next append looks for the last complete record again.
            with suppress(OSError):
                os.truncate(self._path, self._end)
            self._file.close()
            self._file = None
            raise write_error(self._path, error) from error
        self._end += len(content)
        self._holds_exchanges = True

    def _make_whole(self, path: Path) -> int | None:
        """Removes what follows the last complete record, and returns where that ends.

        None, with the file unchanged, if complete records follow the damage: then it is no result of a kill, and nothing is
        removed.
        """
        size = path.stat().st_size
        end = self._recall_end(path, size)
        with path.open("rb") as file:
            file.seek(end)
            try:
                for record in records(Unzipped(file, zipped=True), 0):
                    end = record.end or end
            except DamagedError as damage:
                log.info("%s, byte %d: %s", path, damage.offset, damage)
            if end < size and record_follows(file, end + 1):
                log.warning("%s is damaged from byte %d on; it is left as it is, and a new file is begun.", path, end)
                return None
        if end < size:
            os.truncate(path, end)
            sync(path)
        return end

    def _recall_end(self, path: Path, size: int) -> int:
        """Up to where the file is known to be complete."""
        known = self._known_end
        if known is None or known.file != path.name:
            return 0
        if known.offset + known.length > size:
            raise CorpusError(f"{path} ends before a record that the corpus names. Copy the corpus again.")
        return known.offset + known.length


def name_of(number: int) -> str:
    """The name of a file of the archive, numbered from 1."""
    return f"pages-{number:05d}.warc.gz"


def damage_error(path: Path, damage: DamagedError) -> CorpusError:
    """The error for a record that cannot be read."""
    return CorpusError(f"{path}, byte {damage.offset}: the record is damaged ({damage}). Copy the corpus again.")
