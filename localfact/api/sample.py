"""The sample that comes with localfact: responses, pages to check them with, and a recording of a language model on both."""

from functools import cache
from pathlib import Path

from localfact.corpus.corpus import corpus_identity
from localfact.errors import InputError, LocalFactError
from localfact.methods.options import Options
from localfact.runtime.locations import data_folder

#: What a user types for the recording.
RECORDING = Path("sample")


def sample_responses() -> Path:
    """The responses of the sample."""
    return data_folder("index") / "sample-responses.jsonl"


def sample_corpus() -> Path:
    """The corpus of the sample."""
    return data_folder("index") / "sample"


@cache
def sample_identity() -> str | None:
    """The content hash of the sample's corpus; None where it is not here."""
    try:
        return corpus_identity(sample_corpus())
    except LocalFactError:
        return None


def sample_recording() -> Path:
    """The transcript of a run of the sample with the method localfact: a language model's answers, and the passages found."""
    return data_folder("index") / "sample-recording.sqlite"


def with_recording(options: Options, *, of_sample: bool) -> Options:
    """The options with the sample's recording in the place of the word for it, unless a file here has that name.

    Raises:
        InputError: it is named for responses that are not the sample's.
    """
    if options.replay != RECORDING or RECORDING.is_file():
        return options
    if not of_sample:
        raise InputError(f"--replay {RECORDING} answers for the shipped sample alone: leave --data out, or name a transcript.")
    return options.model_copy(update={"replay": sample_recording()})
