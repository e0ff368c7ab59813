"""Files that a full disk interrupts keep what they had."""

import errno
import hashlib
import os
from pathlib import Path

import pytest

from localfact.errors import InputError, WriteError
from localfact.runtime.files import file_digest, replace, whole_lines, write_errors, write_file


def test_the_digest_is_that_of_the_bytes(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"a" * 100_000)
    assert file_digest(file) == hashlib.sha256(b"a" * 100_000).hexdigest()


def test_a_replacement_that_fails_midway_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"old")

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(WriteError, match="No space left on device"), write_errors(file):
        replace(file, b"new")
    assert file.read_bytes() == b"old"


def test_a_pipe_or_a_device_is_not_replaced_by_a_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(InputError, match="no plain file"):
        replace(pipe, b"new")
    assert pipe.is_fifo()


def test_a_named_file_gets_its_folder_or_an_error_that_promises_nothing(tmp_path: Path) -> None:
    write_file(tmp_path / "new/deep/a", [b"one", b"two"])
    assert (tmp_path / "new/deep/a").read_bytes() == b"onetwo"
    with pytest.raises(WriteError, match=r"new/deep/a/b cannot be written: (?!.*kept)"):
        write_file(tmp_path / "new/deep/a/b", [b"three"])


def test_a_last_line_that_was_cut_short_is_told_from_whole_ones(tmp_path: Path) -> None:
    file = tmp_path / "a"
    assert whole_lines(file) == ([], False)
    file.write_bytes(b"one\ntwo\n")
    assert whole_lines(file) == ([b"one\n", b"two\n"], False)
    file.write_bytes(b"one\ntw")
    assert whole_lines(file) == ([b"one\n"], True)
