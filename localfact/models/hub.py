"""What the Hugging Face hub says of a model: its commit, its files, whether we may have them. Downloads no weights."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

import httpx

from localfact.errors import InputError, MissingError

HUB = "https://huggingface.co"
TIMEOUT = httpx.Timeout(30.0, connect=10.0)
#: Besides the weights: configuration, tokenizer, chat template, and what a licence wants to be kept with them.
KEPT_SUFFIXES = {".json", ".txt", ".model", ".jinja"}
KEPT_STEMS = ("license", "notice", "use_policy")
#: Copies of the same weights for other programs.
FOREIGN_FOLDERS = {"original", "onnx", "openvino", "metal", "gguf", "runs", "figures", "assets"}


@dataclass(frozen=True)
class RemoteFile:
    """A file on the hub: its name there, its size in bytes, its SHA-256 where it is large, else its git object id."""

    name: str
    size: int
    sha256: str | None = None
    blob: str | None = None

    @property
    def mark(self) -> str:
        """What tells this content from any other under the same name."""
        return (self.sha256 or self.blob or "unknown")[:16]


def hub_token() -> str | None:
    """The token of `hf auth login` or of HF_TOKEN."""
    from huggingface_hub import get_token

    return get_token()


def client(token: str | None) -> httpx.Client:
    """A connection to the hub. httpx sends the token to the hub's own host only, also when that redirects to another."""
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE"):
        raise MissingError("HF_HUB_OFFLINE is set, so nothing is downloaded; unset it to pull weights.")
    headers = {"user-agent": "localfact", "accept-encoding": "identity"}
    if token:
        headers["authorization"] = f"Bearer {token}"
    return httpx.Client(base_url=endpoint(), headers=headers, timeout=TIMEOUT, follow_redirects=True)


def endpoint() -> str:
    """The hub's address: HF_ENDPOINT for a mirror."""
    return (os.environ.get("HF_ENDPOINT") or HUB).rstrip("/")


def unreachable(error: httpx.HTTPError) -> MissingError:
    """What to say when the hub does not answer."""
    reason = " ".join(str(error).split()) or type(error).__name__
    return MissingError(
        f"The hub at {endpoint()} cannot be reached ({reason}); what came is kept. Pull on a machine with a network, "
        "and copy the folder into models/weights here."
    )


def gated_message(hub: str, reason: str) -> str:
    """What to do about a gated model."""
    return (
        f"{hub} is gated {reason}: accept its licence at {HUB}/{hub}, then log in with `hf auth login` "
        "or set HF_TOKEN to your token."
    )


def repository(session: httpx.Client, hub: str, revision: str) -> tuple[str, list[RemoteFile]]:
    """The commit that a revision stands for, and the files to download of it; checks that they would be given to us.

    Raises:
        MissingError: the hub cannot be reached, or the model is gated and the token does not open it.
        InputError: the hub has no such model or revision, or no weights that can be read.
    """
    told = hub_json(session, hub, f"/api/models/{hub}/revision/{quote(revision, safe='')}?blobs=true")
    commit, files = str(told["sha"]), chosen(remote_files(told))
    if not files:
        raise InputError(f"{hub} holds no weights in the formats that localfact reads (safetensors, bin).")
    if told.get("gated"):
        smallest = min(files, key=lambda file: file.size)
        try:
            checked(session.head(file_url(hub, commit, smallest), follow_redirects=False), hub)
        except httpx.HTTPError as error:
            raise unreachable(error) from None
    return commit, files


def hub_json(session: httpx.Client, hub: str, path: str) -> dict[str, Any]:
    """What the hub's API answers."""
    try:
        answer = checked(session.get(path), hub)
        told = answer.json()
    except httpx.HTTPError as error:
        raise unreachable(error) from None
    except ValueError:
        told = None
    if not isinstance(told, dict) or "sha" not in told:
        raise MissingError(f"What answers at {endpoint()} is not the Hugging Face hub.")
    return told


def checked(answer: httpx.Response, hub: str) -> httpx.Response:
    """The answer, unless it refuses.

    Raises:
        MissingError: gated, or the hub is out of order. InputError: no such model or revision.
    """
    code = answer.headers.get("x-error-code", "")
    if code == "GatedRepo" or (answer.status_code == 403 and not code):
        raise MissingError(gated_message(hub, "and your token does not open it" if hub_token() else "and no token was found"))
    if code == "RevisionNotFound":
        raise InputError(f"The hub has {hub}, but not the revision that its card names.")
    if answer.status_code in (401, 404):
        raise InputError(f"The hub has no model '{hub}', or shows it only to others; check the name and your token.")
    if answer.status_code >= 400:
        raise MissingError(f"The hub at {endpoint()} answers {answer.status_code} to {hub}; try the same command later.")
    return answer


def remote_files(told: Mapping[str, Any]) -> list[RemoteFile]:
    """The files of a repository as its API lists them; names that would leave the folder are passed over."""
    files = []
    for entry in told.get("siblings", ()):
        name, lfs = str(entry.get("rfilename", "")), entry.get("lfs") or {}
        path = PurePosixPath(name)
        if not name or path.is_absolute() or ".." in path.parts:
            continue
        files.append(RemoteFile(name, int(entry.get("size") or 0), lfs.get("sha256"), entry.get("blobId")))
    return files


def chosen(files: Sequence[RemoteFile]) -> list[RemoteFile]:
    """The files that are needed: weights in one format and one copy, configuration, tokenizer, licence."""
    ours = [file for file in files if not FOREIGN_FOLDERS & set(PurePosixPath(file.name).parts[:-1])]
    safe = [file for file in ours if file.name.endswith(".safetensors")]
    sharded = [file for file in safe if not PurePosixPath(file.name).name.startswith("consolidated")]
    weights = sharded or safe or [file for file in ours if PurePosixPath(file.name).match("pytorch_model*.bin")]
    if not weights:
        return []
    return weights + [file for file in ours if is_kept(PurePosixPath(file.name))]


def is_kept(path: PurePosixPath) -> bool:
    """Whether a file that is not weights is kept."""
    hidden = any(part.startswith(".") for part in path.parts)
    return not hidden and (path.suffix in KEPT_SUFFIXES or path.name.lower().startswith(KEPT_STEMS))


def file_url(hub: str, commit: str, file: RemoteFile) -> str:
    """Where a file is downloaded from."""
    return f"/{hub}/resolve/{commit}/{quote(file.name)}"
