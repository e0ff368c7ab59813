"""The texts of a transcript, kept small: what calls say alike stands once.

Each text is a frame of zstd that has the same text of an earlier call, its base, as a raw dictionary. The base is the call that
shares most lines with it, of those that had a line first: instructions and examples, a premise, the passages of a claim.
"""

import zlib
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Generic, NamedTuple, TypeVar

import zstandard

Value = TypeVar("Value")

#: zstd's level: what 9 writes of prompts and answers is a tenth less than what 3 does, and as much as 19 does.
LEVEL = 9
#: Bytes of one text; a frame that says it holds more is no text of ours.
MOST_BYTES = 1 << 26
#: Characters of the shortest line that is looked for, and how many lines are remembered: those of some thousand passages.
LINE, LINES = 32, 1 << 15
#: How many bases stand one on the other.
DEPTH = 4


class Base(NamedTuple):
    """An answered call with whose texts others can be written: its row, the texts, and how many bases it stands on."""

    row: int
    request: str
    answer: str
    depth: int
    lines: frozenset[int]


class Recent(Generic[Value]):
    """The values that were used last, of all those that were kept."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[Any, Value] = OrderedDict()

    def get(self, name: Any) -> Value | None:
        """The value of that name, where it is still here."""
        if name not in self._values:
            return None
        self._values.move_to_end(name)
        return self._values[name]

    def keep(self, name: Any, value: Value) -> None:
        """Adds a value; the one that was not used for longest may have to go."""
        self._values[name] = value
        if len(self._values) > self._most:
            self._values.popitem(last=False)


class Bases:
    """Finds the base of the next call, among those that this process recorded."""

    def __init__(self) -> None:
        self._first: Recent[Base] = Recent(LINES)

    def of(self, lines: Mapping[int, int]) -> Base | None:
        """The call that shares most with these lines, of all that had one of them first; None where none is known."""
        known = {base.row: base for line in lines if (base := self._first.get(line)) is not None}
        shared = {row: sum(lines[line] for line in base.lines & lines.keys()) for row, base in known.items()}
        return known[max(sorted(shared), key=shared.__getitem__)] if shared else None

    def offer(self, recorded: Base) -> None:
        """Makes an answered call known to those that come."""
        if recorded.depth < DEPTH:
            for line in recorded.lines:
                if self._first.get(line) is None:
                    self._first.keep(line, recorded)


def lines_of(stage: str, request: str) -> dict[int, int]:
    """The lines of a request in JSON that are worth sharing within a stage: a checksum of each, and its length."""
    seed = zlib.crc32(stage.encode("utf-8", "surrogatepass"))
    return {zlib.crc32(line.encode(), seed): len(line) for line in request.split("\\n") if len(line) >= LINE}


def packed(text: str, base: str | None) -> bytes:
    """The text as a frame; `unpacked` with the same base gives it back.

    Raises:
        UnicodeEncodeError: the text has a lone surrogate.
    """
    return zstandard.ZstdCompressor(level=LEVEL, dict_data=_dictionary(base), write_checksum=True).compress(text.encode())


def unpacked(frame: bytes, base: str | None) -> str:
    """The text of a frame.

    Raises:
        ValueError: it is no frame of `packed` with this base, or of more than `MOST_BYTES`.
    """
    try:
        if not 0 <= zstandard.frame_content_size(frame) <= MOST_BYTES:
            raise ValueError("a text is too long")
        return zstandard.ZstdDecompressor(dict_data=_dictionary(base)).decompress(frame).decode()
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from error


def _dictionary(base: str | None) -> zstandard.ZstdCompressionDict | None:
    if base is None:
        return None
    return zstandard.ZstdCompressionDict(base.encode(), dict_type=zstandard.DICT_TYPE_RAWCONTENT)
