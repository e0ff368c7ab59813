"""Every error a user can cause, in one tree. The message says what is wrong and what to do next, in one or two sentences.

    LocalFactError                 exit code 2
    ├── InputError                 2   a file, a row, an option that cannot be used as given
    │   ├── CorpusError            2   a corpus folder whose parts do not belong together, or are damaged
    │   ├── GraphError             2   a fact graph that is not one
    │   ├── PromptTooLongError     2   a prompt that leaves the model's window no room for its answer
    │   ├── RequestError           2   one request that the engine fails at each time, while it answers others
    │   └── UnlikelyLabelsError    2   labels that the model would hardly write where it is asked for one of them
    ├── UnreadableAnswerError      2   an answer of a language model without anything that was asked for
    ├── RunFolderError             2   a run folder that other settings, or another process, own
    ├── MissingError               3   weights, a corpus or a package that is not there
    ├── EngineError                2   the language model engine could not start, or died; what was done is kept
    ├── SearchError                2   a search that no provider answered; never taken for "nothing found"
    ├── SendError                  2   another tool's server that did not take what was sent
    ├── OfflineError               2   something tried to leave this machine although --offline was given
    └── WriteError                 2   the disk is full or the folder cannot be written; what was done is kept

The command line prints the message and exits with the code; a library user catches LocalFactError.
"""

from typing import ClassVar


class LocalFactError(Exception):
    """Base of all errors a user can cause. `str(error)` is the whole message."""

    exit_code: ClassVar[int] = 2


class InputError(LocalFactError):
    """Input that cannot be used as it is: the message names the file and line, or the option."""


class CorpusError(InputError):
    """A corpus whose parts are damaged or do not belong together."""


class GraphError(InputError):
    """A fact graph with an unknown id, a probability outside [0, 1], or not in the schema."""


class PromptTooLongError(InputError):
    """A prompt that leaves the model's window no room for an answer. It concerns one call; the message has the numbers."""


class RequestError(InputError):
    """A request that the engine fails at each time it is made (not a number, an internal error). It concerns one call."""


class UnlikelyLabelsError(InputError):
    """Labels of which the model would write hardly any where it is asked: their probabilities mean nothing. One call."""


class UnreadableAnswerError(LocalFactError):
    """An answer of a language model that holds nothing of what was asked for. It concerns one response."""


class RunFolderError(LocalFactError):
    """A run folder that cannot be continued: other settings, or another process at work in it."""


class MissingError(LocalFactError):
    """Something that must be installed, downloaded, built or set up first: the message says how."""

    exit_code: ClassVar[int] = 3


class EngineError(LocalFactError):
    """The language model engine could not start, or died. Results written before stay."""


class SearchError(LocalFactError):
    """A search that no provider answered, after all tries. It concerns one query; the same command asks again."""


class SendError(LocalFactError):
    """Results that another tool's server did not take. They stay in the run folder, and the same command sends them again."""


class OfflineError(LocalFactError):
    """Something tried to resolve a name or to connect beyond this machine although that was forbidden."""


class WriteError(LocalFactError):
    """A file could not be written. What was written before stays, and the same command continues from there."""
