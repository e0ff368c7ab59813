"""Reads the members of inspect_ai's `.eval` logs: JSON in a zip, packed by zstandard or deflate, each of a bounded size."""

import json
import zipfile
import zlib
from pathlib import Path
from typing import Any, BinaryIO

import zstandard

#: The most bytes of a member, unpacked: a sample with all that an agent did.
LARGEST_MEMBER = 128 * 2**20
#: What zipfile of Python 3.11 has no name for: zstandard's number among ways of packing.
ZSTANDARD = 93
#: A local header: how long it is, and where in it the lengths of name and extra field stand.
_HEADER, _NAME_LENGTH, _EXTRA_LENGTH = 30, slice(26, 28), slice(28, 30)


class MemberError(Exception):
    """Why a member cannot be read."""


class EvalArchive:
    """The members of a `.eval` log; of several of one name the last counts, as inspect_ai has it."""

    def __init__(self, path: Path) -> None:
        """Reads the list of members.

        Raises:
            MemberError: the file is no zip, or is cut off.
        """
        self.path = path
        try:
            with zipfile.ZipFile(path) as archive:
                self._members = dict(archive.NameToInfo)
        except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError) as error:
            raise MemberError(f"it is no whole zip archive: {error}") from None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all members."""
        return tuple(self._members)

    def read_json(self, name: str) -> Any:
        """What a member says, as `json.loads` gives it.

        Raises:
            MemberError: there is no such member, or it is damaged, too large, or not JSON.
        """
        try:
            return json.loads(self.read(name))
        except (ValueError, RecursionError) as error:
            raise MemberError(f"{name} is not JSON: {error}") from None

    def read(self, name: str) -> bytes:
        """The bytes of a member, unpacked.

        Raises:
            MemberError: there is no such member, or it is damaged or too large.
        """
        member = self._members.get(name)
        if member is None:
            raise MemberError(f"there is no {name} in it")
        if member.file_size > LARGEST_MEMBER:
            raise MemberError(f"{name} has {member.file_size:,} bytes, more than {LARGEST_MEMBER:,}")
        try:
            with self.path.open("rb") as file:
                file.seek(member.header_offset)
                header = file.read(_HEADER)
                lengths = (int.from_bytes(header[place], "little") for place in (_NAME_LENGTH, _EXTRA_LENGTH))
                file.seek(member.header_offset + _HEADER + sum(lengths))
                data = _unpack(file, member)
        except (zstandard.ZstdError, zlib.error, OSError, ValueError) as error:
            raise MemberError(f"{name} is damaged: {error}") from None
        if len(data) > LARGEST_MEMBER:
            raise MemberError(f"{name} has more bytes than its archive says, more than {LARGEST_MEMBER:,}")
        if zlib.crc32(data) != member.CRC:
            raise MemberError(f"{name} is damaged: its checksum is another")
        return data


def _unpack(file: BinaryIO, member: zipfile.ZipInfo) -> bytes:
    """At most one byte more than LARGEST_MEMBER of what stands at the file's place."""
    most = LARGEST_MEMBER + 1
    packed = file.read(min(member.compress_size, most))
    if member.compress_type == ZSTANDARD:
        # Large members are several frames, one after the other.
        with zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True) as reader:
            return reader.read(most)
    if member.compress_type == zipfile.ZIP_DEFLATED:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, most)
    if member.compress_type == zipfile.ZIP_STORED:
        return packed
    raise MemberError(f"{member.filename} is packed in a way (number {member.compress_type}) that is not read")
