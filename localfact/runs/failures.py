"""One bad row never stops the rest: the one place that says what an error costs."""

from collections.abc import Awaitable
from typing import TypeVar

from localfact.errors import CorpusError, EngineError, LocalFactError, MissingError, OfflineError, WriteError
from localfact.records import Failure

Result = TypeVar("Result")

#: Errors that no other row would escape.
CONCERN_ALL = (MissingError, CorpusError, EngineError, OfflineError, WriteError)


async def or_failure(work: Awaitable[Result]) -> Result | Failure:
    """What the work on one row returns, or why it failed.

    Raises:
        LocalFactError: one of CONCERN_ALL, which would meet every other row too.
    """
    try:
        return await work
    except CONCERN_ALL:
        raise
    except LocalFactError as error:
        return Failure(reason=str(error))
    except Exception as error:  # whatever it is, the other rows have nothing to do with it
        return Failure(reason=f"{type(error).__name__}: {error}")
