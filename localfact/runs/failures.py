"""Which errors fail one row, and which stop the whole run."""

from collections.abc import Awaitable
from typing import TypeVar

from localfact.errors import CorpusError, EngineError, LocalFactError, MissingError, OfflineError, WriteError
from localfact.records import Failure
from localfact.text import path_text

Result = TypeVar("Result")

#: Errors that every other row would meet too.
CONCERN_ALL = (MissingError, CorpusError, EngineError, OfflineError, WriteError)


async def or_failure(work: Awaitable[Result]) -> Result | Failure:
    """The result of the work on one row, or why it failed.

    Raises:
        LocalFactError: one of CONCERN_ALL, which every other row would meet too.
    """
    try:
        return await work
    except CONCERN_ALL:
        raise
    except LocalFactError as error:
        return Failure(reason=path_text(str(error)))
    except Exception as error:  # any other error concerns this row alone
        return Failure(reason=path_text(f"{type(error).__name__}: {error}"))
