"""Downloads the weights of a model card from the Hugging Face hub. The one place, beside evidence, that asks a network.

Files come over plain HTTP with byte ranges: what an interrupted download has on disk is kept and gone on from, and every file
is compared with the hash that the hub gives for it. The commit is written beside the weights when all of them are there.
"""

import fcntl
import shutil
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import yaml

from localfact.errors import InputError, MissingError, WriteError
from localfact.models.cards import ModelCard
from localfact.models.files import has_mark, remember
from localfact.models.hub import (
    RemoteFile,
    checked,
    client,
    endpoint,
    file_url,
    gated_message,
    hub_token,
    repository,
    unreachable,
)
from localfact.models.weights import PULLED_FILE, Pulled, pulled_of, weights_homes

#: Files downloaded at once.
CONNECTIONS = 4
CHUNK = 1 << 20
LOCK_FILE = ".pull.lock"
GIB = 1 << 30

Progress = Callable[[int], None]


@dataclass(frozen=True)
class Plan:
    """A download that can begin: from where, to where, which files, and how many bytes of them are not on the disk yet."""

    hub: str
    revision: str
    folder: Path
    files: tuple[RemoteFile, ...]
    missing: int

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)

    @property
    def pulled(self) -> Pulled:
        """What is noted beside the files when all of them are there."""
        marks = {file.name: file.sha256 or file.blob or "" for file in self.files}
        return Pulled(hub=self.hub, revision=self.revision, files=marks)


def plan_pull(card: ModelCard, to: Path | None = None) -> Plan:
    """Asks the hub what is to be downloaded, and checks token and disk before a byte of it is.

    `to`: a folder in which NAME is made; models/weights if None.

    Raises:
        MissingError: the hub cannot be reached, or the model is gated and there is no token that opens it.
        InputError: the card names no model of the hub, or the hub has none of that name or revision.
        WriteError: the disk is too small.
    """
    if card.hub is None or card.package is not None or card.shipped is not None:
        raise InputError(f"The weights of '{card.name}' are not on a hub: there is nothing to pull.")
    token = hub_token()
    if card.gated and token is None:
        raise MissingError(gated_message(card.hub, "and no token was found"))
    # A revision that is a hash names weights, not a commit that the hub could be asked for.
    revision = "main" if card.revision.startswith("sha256:") else card.revision
    with client(token) as session:
        commit, files = repository(session, card.hub, revision)
    folder = (to if to is not None else weights_homes()[0]) / card.name
    missing = sum(file.size - on_disk(folder, file) for file in files)
    plan = Plan(hub=card.hub, revision=commit, folder=folder, files=tuple(files), missing=missing)
    check_disk(card.name, plan)
    return plan


def pull(plan: Plan, progress: Progress = lambda count: None) -> Path:
    """Downloads what is missing; `progress` is told of bytes as they come. Returns the folder.

    Interrupted, or ended by an error, it leaves what it has; the same call goes on from there.

    Raises:
        MissingError: the hub stopped answering. WriteError: the disk is full. InputError: a file came damaged.
    """
    stop = threading.Event()
    try:
        plan.folder.mkdir(parents=True, exist_ok=True)
        with alone(plan.folder), client(hub_token()) as session, ThreadPoolExecutor(CONNECTIONS) as pool:
            if pulled_of(plan.folder) != plan.pulled:
                (plan.folder / PULLED_FILE).unlink(missing_ok=True)
            waiting = [pool.submit(fetch, session, plan, file, stop, progress) for file in plan.files]
            try:
                done, _ = wait(waiting, return_when=FIRST_EXCEPTION)
                for future in done:
                    future.result()
            except BaseException:
                stop.set()
                pool.shutdown(wait=True, cancel_futures=True)
                raise
            (plan.folder / PULLED_FILE).write_text(yaml.safe_dump(plan.pulled.model_dump()), encoding="utf-8")
    except OSError as error:
        raise WriteError(
            f"{error.filename or plan.folder} could not be written ({error.strerror}); what came is kept, "
            "and the same command goes on from there."
        ) from None
    return plan.folder


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Holds the folder for this process.

    Raises:
        InputError: another process downloads into it.
    """
    with (folder / LOCK_FILE).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"Another process downloads into {folder}; wait for it to end.") from None
        yield


def part_of(folder: Path, file: RemoteFile) -> Path:
    """Where a file grows; the name holds its content's mark, so that another revision never goes on from it."""
    target = folder / file.name
    return target.with_name(f"{target.name}.{file.mark}.part")


def on_disk(folder: Path, file: RemoteFile) -> int:
    """How many bytes of a file are here."""
    target, part = folder / file.name, part_of(folder, file)
    if target.is_file() and target.stat().st_size == file.size:
        return file.size
    return min(part.stat().st_size, file.size) if part.is_file() else 0


def check_disk(name: str, plan: Plan) -> None:
    """Whether the disk holds what is missing.

    Raises:
        WriteError: it does not.
    """
    there = next(folder for folder in (plan.folder, *plan.folder.absolute().parents) if folder.is_dir())
    free = shutil.disk_usage(there).free
    if plan.missing > free:
        raise WriteError(
            f"Pulling '{name}' needs {plan.missing / GIB:.1f} GiB on the disk of {plan.folder}, "
            f"where {free / GIB:.1f} GiB are free; make room, or name a folder on another disk with --to."
        )


def fetch(session: httpx.Client, plan: Plan, file: RemoteFile, stop: threading.Event, progress: Progress) -> None:
    """Brings one file, going on from what is there; a broken connection is taken up again as long as bytes come."""
    target, part = plan.folder / file.name, part_of(plan.folder, file)
    if target.is_file() and target.stat().st_size == file.size and is_intact(target, file):
        progress(file.size)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    have = min(part.stat().st_size, file.size) if part.is_file() else 0
    progress(have)
    part.touch()
    while have < file.size and not stop.is_set():
        try:
            have = go_on(session, plan, file, part, stop, progress)
        except httpx.HTTPError as error:
            if part.stat().st_size <= have:
                raise unreachable(error) from None
            have = part.stat().st_size
    if stop.is_set():
        return
    if not is_intact(part, file):
        part.unlink()
        raise InputError(f"{file.name} came damaged from {endpoint()}; the same command fetches it again.")
    part.replace(target)
    if file.sha256 is not None:
        remember(target, file.sha256)  # it was read just now; 140 GB are not to be read again at first use


def go_on(session: httpx.Client, plan: Plan, file: RemoteFile, part: Path, stop: threading.Event, progress: Progress) -> int:
    """Appends to a part what the hub sends of the rest. Returns the part's size."""
    have = part.stat().st_size
    ask = {"range": f"bytes={have}-"} if have else {}
    with session.stream("GET", file_url(plan.hub, plan.revision, file), headers=ask) as answer:
        checked(answer, plan.hub)
        whole = answer.status_code != httpx.codes.PARTIAL_CONTENT
        if whole:
            progress(-have)
        with part.open("wb" if whole else "ab") as stream:
            for chunk in answer.iter_raw():  # unbuffered: a break loses nothing that came
                stream.write(chunk)
                progress(len(chunk))
                if stop.is_set():
                    break
    size = part.stat().st_size
    if size < file.size and not stop.is_set():
        raise httpx.ReadError("the connection ended early")
    return size


def is_intact(path: Path, file: RemoteFile) -> bool:
    """Whether a file is the one that the hub has: same size, same hash."""
    if path.stat().st_size != file.size:
        return False
    mark = file.sha256 or file.blob
    return mark is None or has_mark(path, mark)
