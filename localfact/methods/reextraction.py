"""Makes the text of a corpus's pages anew, with the worker processes of this machine."""

import asyncio
from collections.abc import Callable

from localfact.corpus.reextract import Reextracted, reextract
from localfact.corpus.writer import CorpusWriter
from localfact.web.extracting.extractors import Extractors


async def reextract_all(writer: CorpusWriter, progress: Callable[[int, int], None]) -> Reextracted:
    """Extracts the pages of a corpus again from its archive, with one worker process for each core; see `reextract`.

    Raises:
        WriteError: the disk is full, for example.
    """
    extractors = Extractors()
    try:
        return await reextract(writer, extractors, workers=extractors.at_once, progress=progress)
    finally:
        await asyncio.to_thread(extractors.close)
