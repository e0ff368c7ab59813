"""Downloads the weights of a model card from the Hugging Face hub.

huggingface_hub talks to the hub. Its own download discards an interrupted file, so here a file is downloaded into a part, which
is resumed, and compared with the hub's hash. The commit is written beside the weights when all of them are there.
"""

import fcntl
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import yaml

from localfact.errors import InputError, MissingError, WriteError
from localfact.models.files import SHA256_DIGITS, has_mark, remember
from localfact.models.model_card import ModelCard
from localfact.models.weights import COMMIT, PULLED_FILE, Pulled, find_weights, read_pulled, weights_homes
from localfact.runtime.files import replace, write_errors
from localfact.runtime.links import append_to, refuse_links
from localfact.runtime.path_names import is_relative

#: Files to download besides the weights: configuration, tokenizer, chat template, licences.
KEPT_SUFFIXES = (".json", ".txt", ".model", ".jinja")
KEPT_STEMS = ("license", "notice", "use_policy")
#: Copies of the same weights for other programs.
FOREIGN_FOLDERS = {"original", "onnx", "openvino", "metal", "gguf", "runs", "figures", "assets"}
#: Files downloaded at once.
CONNECTIONS = 4
LOCK_FILE = ".pull.lock"
GIB = 1 << 30
#: The hub's hash of a file (`files.has_mark`), or none; and the most bytes of one file.
MARK = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})?")
MOST_FILE = 1 << 50

Progress = Callable[[int], None]


@dataclass(frozen=True)
class RemoteFile:
    """A file on the hub: its name there, its size in bytes, and the hub's hash of its content (`files.has_mark`)."""

    name: str
    size: int
    mark: str


@dataclass(frozen=True)
class Plan:
    """A download that can begin: source, target folder, files, and how many of their bytes are missing on this machine."""

    hub: str
    revision: str
    folder: Path
    files: tuple[RemoteFile, ...]
    missing: int

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(file.size for file in self.files)


def plan_pull(card: ModelCard, to: Path | None = None, *, tokenizer_only: bool = False) -> Plan:
    """Asks the hub what is to be downloaded, and checks access and disk space before the download.

    `to`: a folder in which NAME is made; models/weights if None. `tokenizer_only`: leaves the weights out.

    Raises:
        MissingError: the hub cannot be reached, or the model is gated and there is no token with access to it.
        InputError: the card names no model of the hub, or the hub has none of that name or revision, or no weights of it.
        WriteError: the disk is too small.
    """
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")  # read at the first import: the hub need not know what runs here
    from huggingface_hub import get_token

    if card.hub is None or card.package is not None or card.shipped is not None:
        raise InputError(f"The weights of '{card.name}' are not on a hub: there is nothing to pull.")
    if card.gated and get_token() is None:
        raise gate_error(card.hub)
    if tokenizer_only and find_weights(card.name, card.hub, card.revision) is not None:
        raise InputError(f"The weights of '{card.name}' are on this machine, and its tokenizer with them: nothing is to pull.")
    # A revision that is a hash identifies weights; it is no commit of the hub.
    commit, files = repository(card.hub, "main" if card.revision.startswith("sha256:") else card.revision)
    if tokenizer_only:
        files = [file for file in files if is_beside_weights(file)]
    folder = (to if to is not None else weights_homes()[0]) / card.name
    missing = sum(file.size - on_disk(folder, file) for file in files)
    free = shutil.disk_usage(next(place for place in (folder, *folder.absolute().parents) if place.is_dir())).free
    if missing > free:
        raise WriteError(
            f"Pulling '{card.name}' needs {missing / GIB:.1f} GiB on the disk of {folder}, "
            f"where {free / GIB:.1f} GiB are free; make room, or name a folder on another disk with --to."
        )
    return Plan(hub=card.hub, revision=commit, folder=folder, files=tuple(files), missing=missing)


def repository(hub: str, revision: str) -> tuple[str, list[RemoteFile]]:
    """The commit of a revision, and the files to download; checks that we have access to them."""
    from huggingface_hub import HfApi, constants, get_hf_file_metadata, hf_hub_url

    with hub_errors(hub):
        info = HfApi().model_info(hub, revision=revision, files_metadata=True, timeout=constants.HF_HUB_DOWNLOAD_TIMEOUT)
        listed = ((file.rfilename, file.size, file.lfs.sha256 if file.lfs else file.blob_id) for file in info.siblings or ())
        files = choose_files([remote_file(name, size, mark) for name, size, mark in listed])
        if not files:
            raise InputError(f"{hub} holds no weights in the formats that localfact reads (safetensors, bin).")
        if info.gated:
            get_hf_file_metadata(hf_hub_url(hub, files[0].name, revision=info.sha))
        if not COMMIT.fullmatch(info.sha or ""):
            raise ValueError(f"{info.sha!r:.60} is no commit")
    return str(info.sha), files


def remote_file(name: str, size: int | None, mark: str | None) -> RemoteFile:
    """A file as the hub lists it. Raises ValueError for a size or a hash that no file has: both decide what is written."""
    if not 0 <= (size or 0) <= MOST_FILE or not MARK.fullmatch(mark or ""):
        raise ValueError(f"{name!r:.60} has no size, or no hash")
    return RemoteFile(name, size or 0, mark or "")


def choose_files(files: Sequence[RemoteFile]) -> list[RemoteFile]:
    """The files that are needed: weights in one format and one copy, configuration, tokenizer, licence."""
    paths = {file: PurePosixPath(file.name) for file in files}
    # Hidden files are not needed; what is no path below a folder would leave it.
    ours = [
        file
        for file, path in paths.items()
        if is_relative(file.name) and not any(part in FOREIGN_FOLDERS or part[0] == "." for part in path.parts)
    ]
    safe = [file for file in ours if file.name.endswith(".safetensors")]
    sharded = [file for file in safe if not paths[file].name.startswith("consolidated")]
    weights = sharded or safe or [file for file in ours if paths[file].match("pytorch_model*.bin")]
    return weights + [file for file in ours if is_beside_weights(file)] if weights else []


def is_beside_weights(file: RemoteFile) -> bool:
    """Whether a file is needed that holds no weights: configuration, tokenizer, licence."""
    return file.name.endswith(KEPT_SUFFIXES) or PurePosixPath(file.name).name.lower().startswith(KEPT_STEMS)


@contextmanager
def hub_errors(hub: str) -> Iterator[None]:
    """Turns errors of huggingface_hub inside the block into a LocalFactError."""
    from httpx2 import HTTPError
    from huggingface_hub import constants, errors

    try:
        yield
    except errors.OfflineModeIsEnabled:
        raise MissingError(
            "HF_HUB_OFFLINE is set, or TRANSFORMERS_OFFLINE, so nothing is downloaded; unset it to pull."
        ) from None
    except errors.RevisionNotFoundError:
        raise InputError(f"The hub has {hub}, but not the revision that its card names.") from None
    except (errors.HfHubHTTPError, errors.HFValidationError) as error:
        status = error.response.status_code if isinstance(error, errors.HfHubHTTPError) else 404
        if isinstance(error, errors.GatedRepoError) or status == 403:
            raise gate_error(hub) from None
        if status in (401, 404):
            raise InputError(
                f"The hub has no model '{hub}', or shows it only to others; check the name and your token."
            ) from None
        raise MissingError(f"The hub at {constants.ENDPOINT} answers {status} to {hub}; try the same command later.") from None
    except HTTPError as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise MissingError(
            f"The hub at {constants.ENDPOINT} cannot be reached ({reason}); what came is kept. Pull on a machine with a "
            "network, and copy the folder into models/weights here."
        ) from None
    except (KeyError, TypeError, ValueError):  # a page of something else, where JSON should be
        raise MissingError(f"What answers at {constants.ENDPOINT} is not the Hugging Face hub.") from None


def gate_error(hub: str) -> MissingError:
    """The error for a gated model, which says how to get access."""
    from huggingface_hub import get_token

    reason = "and no token was found" if get_token() is None else "and your token does not open it"
    return MissingError(
        f"{hub} is gated {reason}: accept its licence at https://huggingface.co/{hub}, then log in with `hf auth login` "
        "or set HF_TOKEN to your token."
    )


def pull(plan: Plan, progress: Progress = lambda count: None) -> Path:
    """Downloads what is missing and returns the folder; `progress` is called with the number of bytes that arrived.

    After an interruption or an error the same call resumes.

    Raises:
        MissingError: the hub stopped answering. WriteError: the disk is full.
        InputError: a file arrived damaged, or another process downloads into the folder.
    """
    pulled = Pulled(hub=plan.hub, revision=plan.revision, files={file.name: file.mark for file in plan.files})
    stop = threading.Event()
    with write_errors(plan.folder):
        plan.folder.mkdir(parents=True, exist_ok=True)
        with alone(plan.folder), ThreadPoolExecutor(CONNECTIONS) as pool:
            if read_pulled(plan.folder) != pulled:
                (plan.folder / PULLED_FILE).unlink(missing_ok=True)
            try:
                for fetched in as_completed([pool.submit(fetch, plan, file, progress, stop) for file in plan.files]):
                    fetched.result()
            except BaseException:
                stop.set()
                pool.shutdown(cancel_futures=True)
                raise
            replace(plan.folder / PULLED_FILE, yaml.safe_dump(pulled.model_dump()).encode())
    return plan.folder


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Locks the folder for this process while the block runs; InputError if another process has it, or it holds a link."""
    refuse_links(folder)
    with append_to(folder / LOCK_FILE) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"Another process downloads into {folder}; wait for it to end.") from None
        yield


def part_of(folder: Path, file: RemoteFile) -> Path:
    """The file that a download is written to; its name has the content's hash, so that another revision never resumes it."""
    return folder / f"{file.name}.{file.mark[:16]}.part"


def on_disk(folder: Path, file: RemoteFile) -> int:
    """How many bytes of a file are on this machine."""
    target, part = folder / file.name, part_of(folder, file)
    if target.is_file() and target.stat().st_size == file.size:
        return file.size
    return min(part.stat().st_size, file.size) if part.is_file() else 0


def fetch(plan: Plan, file: RemoteFile, progress: Progress, stop: threading.Event) -> None:
    """Downloads or resumes one file; a broken connection is retried as long as bytes arrive."""
    from httpx2 import TransportError

    target, part = plan.folder / file.name, part_of(plan.folder, file)
    if target.is_file() and target.stat().st_size == file.size and has_mark(target, file.mark):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    part.touch()
    before, have = -1, part.stat().st_size
    with hub_errors(plan.hub):
        while before < have < file.size:
            before = have
            try:
                go_on(plan, file, part, progress, stop)
            except TransportError:
                if part.stat().st_size <= before:
                    raise
            have = part.stat().st_size
    if not has_mark(part, file.mark):
        part.unlink()
        raise InputError(f"{file.name} came damaged from the hub; the same command fetches it again.")
    part.replace(target)
    if len(file.mark) == SHA256_DIGITS:
        remember(target, file.mark)  # its hash is known now; 140 GB need not be read again at first use


def go_on(plan: Plan, file: RemoteFile, part: Path, progress: Progress, stop: threading.Event) -> None:
    """Appends the rest of a file to its part; raises CancelledError when `stop` is set."""
    from huggingface_hub import constants, get_session, get_token, hf_hub_url, hf_raise_for_status

    have, token = part.stat().st_size, get_token()
    headers = {"user-agent": "localfact", "accept-encoding": "identity"}
    headers |= {"authorization": f"Bearer {token}"} if token else {}
    headers |= {"range": f"bytes={have}-"} if have else {}
    url, timeout = hf_hub_url(plan.hub, file.name, revision=plan.revision), constants.HF_HUB_DOWNLOAD_TIMEOUT
    with get_session().stream("GET", url, headers=headers, timeout=timeout) as answer:
        hf_raise_for_status(answer)
        whole = answer.status_code != 206
        if whole:
            progress(-have)
        with part.open("wb" if whole else "ab") as stream:
            for chunk in answer.iter_bytes():
                if stream.tell() + len(chunk) > file.size:
                    raise InputError(f"{file.name} is longer on the hub than the hub says; the same command fetches it again.")
                stream.write(chunk)
                progress(len(chunk))
                if stop.is_set():
                    raise CancelledError
