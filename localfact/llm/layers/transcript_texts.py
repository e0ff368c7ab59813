"""The texts of a transcript, kept small: what calls say alike stands once.

Each text is a frame of zstd that has the same text of an earlier call, its base, as a raw dictionary. The base is the call that
shares most lines with it, of those that had a line first: instructions and examples, a premise, the passages of a claim.
"""

import zlib
from collections.abc import Mapping
from typing import NamedTuple

import zstandard

from localfact.runtime.recent import Recent

#: zstd's level: what 9 writes of prompts and answers is a tenth less than what 3 does, and as much as 19 does.
LEVEL = 9
#: Bytes of one text; a frame that says it holds more is no text of ours.
MOST_BYTES = 1 << 26
TOO_LONG = f"a text has more than {MOST_BYTES >> 20} MiB"
#: Characters of the shortest line that is looked for.
LINE = 32
#: Characters of the bases in memory, those of some thousand passages; and how many a line counts as that is remembered.
BASES_SIZE, LINE_SIZE = 1 << 25, 200
#: How many bases stand one on the other.
DEPTH = 4


class Base(NamedTuple):
    """An answered call with whose texts others can be written: its row, the texts, and how many bases it stands on."""

    row: int
    request: str
    answer: str
    depth: int
    lines: frozenset[int]


class Bases:
    """Finds the base of the next call, among those that this process recorded last."""

    def __init__(self) -> None:
        self._bases: Recent[Base] = Recent(BASES_SIZE)
        #: Line -> row of the call that had it first.
        self._first: dict[int, int] = {}

    def of(self, lines: Mapping[int, int]) -> Base | None:
        """The call that shares most with these lines, of all that had one of them first; None where none is known."""
        rows = sorted({self._first[line] for line in lines.keys() & self._first.keys()})
        known = [base for row in rows if (base := self._bases.get(row)) is not None]
        shared = [sum(lines[line] for line in base.lines & lines.keys()) for base in known]
        return known[shared.index(max(shared))] if known else None

    def offer(self, recorded: Base) -> None:
        """Offers a recorded call as a base for later ones, if it has a line that no earlier call had."""
        new = recorded.lines - self._first.keys()
        size = len(recorded.request) + len(recorded.answer) + LINE_SIZE * len(recorded.lines)
        if recorded.depth == DEPTH or not new or size > BASES_SIZE:
            return
        self._first |= dict.fromkeys(new, recorded.row)
        for gone in self._bases.keep(recorded.row, recorded, size):
            for line in gone.lines:
                if self._first.get(line) == gone.row:
                    del self._first[line]


def lines_of(stage: str, request: str) -> dict[int, int]:
    """The lines of a request in JSON that are worth sharing within a stage: a checksum of each, and its length."""
    seed = zlib.crc32(stage.encode("utf-8", "surrogatepass"))
    return {zlib.crc32(line.encode(), seed): len(line) for line in request.split("\\n") if len(line) >= LINE}


def pack(text: str, base: str | None) -> bytes:
    """The text as a frame; `unpack` with the same base gives it back.

    Raises:
        ValueError: the text has more than `MOST_BYTES`, or a lone surrogate.
    """
    plain = text.encode()
    if len(plain) > MOST_BYTES:
        raise ValueError(TOO_LONG)
    return zstandard.ZstdCompressor(level=LEVEL, dict_data=_dictionary(base), write_checksum=True).compress(plain)


def unpack(frame: bytes, base: str | None) -> str:
    """The text of a frame. Raises ValueError where `pack` with this base did not make it, or for more than `MOST_BYTES`."""
    try:
        if not 0 <= zstandard.frame_content_size(frame) <= MOST_BYTES:
            raise ValueError(TOO_LONG)
        return zstandard.ZstdDecompressor(dict_data=_dictionary(base)).decompress(frame).decode()
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from error


def _dictionary(base: str | None) -> zstandard.ZstdCompressionDict | None:
    if base is None:
        return None
    return zstandard.ZstdCompressionDict(base.encode(), dict_type=zstandard.DICT_TYPE_RAWCONTENT)
