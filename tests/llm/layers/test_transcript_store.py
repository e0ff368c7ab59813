import asyncio
import ctypes
import json
import math
import resource
import signal
import sqlite3
import subprocess
import sys
import tracemalloc
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from counting_engine import IDENTITY, CountingEngine, generate

from localfact.errors import InputError, MissingError, WriteError
from localfact.llm.engine import Message
from localfact.llm.layers import transcript_store
from localfact.llm.layers.recording import RecordingLayer, ReplayEngine, identities, prepare, read_calls
from localfact.llm.layers.transcript_texts import pack
from localfact.llm.scripted import ScriptedEngine

CAN_WRITE_ANYWHERE = (1, 2)  # the capabilities by which root reads and writes what its owner may not


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "calls.sqlite"


WRITER = """
import asyncio, json, sys
from pathlib import Path
from localfact.llm.engine import Message
from localfact.llm.scripted import ScriptedEngine
from localfact.llm.layers.recording import RecordingLayer

async def main(file, name, count):
    engine = RecordingLayer(ScriptedEngine(lambda chat: name + " says " + chat[-1].content), Path(file))
    print("ready", flush=True)
    sys.stdin.readline()
    number = 0
    while number < count:
        answers = await asyncio.gather(*(
            engine.generate([Message("user", str(n))], max_tokens=9, stage="s") for n in range(number, number + 10)
        ))
        for n, answer in enumerate(answers, start=number):
            print(json.dumps([n, answer.text]), flush=True)
        number += 10
    await engine.aclose()

asyncio.run(main(sys.argv[1], sys.argv[2], float(sys.argv[3])))
"""


def writer(file: Path, name: str, count: float) -> subprocess.Popen[str]:
    """A process that records calls 0, 1, 2, ... once it is sent a line, and prints each answer that it was given."""
    words = [sys.executable, "-c", WRITER, str(file), name, str(count)]
    return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


async def replayed_texts(file: Path, numbers: Sequence[int]) -> dict[int, str]:
    replay = ReplayEngine(file)
    answers = [await replay.generate([Message("user", str(number))], max_tokens=9, stage="s") for number in numbers]
    await replay.aclose()
    return {number: answer.text for number, answer in zip(numbers, answers, strict=True)}


@pytest.mark.slow
async def test_two_processes_that_write_at_once_are_given_the_same_answers(file: Path) -> None:
    processes = [writer(file, name, 300) for name in ("one", "two")]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    given_answers = [dict(map(json.loads, process.communicate()[0].splitlines())) for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    # The log may still be there: on a busy machine each may have met the other at every try to fold it in.
    assert given_answers[0] == given_answers[1] == await replayed_texts(file, range(300))


async def test_a_file_closed_while_another_had_it_open_becomes_one_plain_file_afterwards(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = RecordingLayer(ScriptedEngine(lambda chat: "said"), file)
    await engine.generate([Message("user", "0")], max_tokens=9, stage="s")
    # One that only reads leaves the log where it is; so do two that close at one moment.
    other = sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True, check_same_thread=False)
    assert other.execute("SELECT count(*) FROM calls").fetchone() == (1,)
    monkeypatch.setattr(transcript_store.time, "sleep", lambda seconds: other.close())
    await engine.aclose()
    assert [path.name for path in file.parent.iterdir()] == ["calls.sqlite"]


@pytest.mark.slow
async def test_answers_given_before_a_kill_stand_and_the_file_goes_on(file: Path) -> None:
    process = writer(file, "killed", math.inf)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("go\n")
    process.stdin.flush()
    lines = [process.stdout.readline() for _ in range(200)][1:]
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    given_answers = dict(map(json.loads, lines))
    assert await replayed_texts(file, sorted(given_answers)) == given_answers
    after = writer(file, "after", 100)
    printed, _ = after.communicate("go\n")
    assert {text.split()[0] for _, text in map(json.loads, printed.splitlines()[1:])} == {"killed"}
    assert [path.name for path in file.parent.iterdir()] == ["calls.sqlite"]


READER = """
import asyncio, sys
from pathlib import Path
from localfact.errors import LocalFactError
from localfact.llm.engine import Message
from localfact.llm.layers.recording import ReplayEngine, prepare

async def main(file):
    try:
        (file.parent / "new").touch()
        print("the folder can be written after all")
    except OSError:
        pass
    try:
        engine = ReplayEngine(file)
        print((await engine.generate([Message("user", "0")], max_tokens=9, stage="s")).text)
        await engine.aclose()
    except LocalFactError as error:
        print(type(error).__name__, error)
    try:
        prepare(file)
    except LocalFactError as error:
        print(type(error).__name__)

asyncio.run(main(Path(sys.argv[1])))
"""


def read_where_nothing_can_be_written(file: Path) -> list[str]:
    """What a process prints that may not write the file's folder, not even as root."""

    def forgo() -> None:
        libc = ctypes.CDLL(None)
        for capability in CAN_WRITE_ANYWHERE:
            libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP

    entries = list(file.parent.iterdir())
    for entry in entries:
        entry.chmod(0o444)
    file.parent.chmod(0o555)
    try:
        words = [sys.executable, "-c", READER, str(file)]
        done = subprocess.run(words, capture_output=True, text=True, check=True, preexec_fn=forgo)
    finally:
        file.parent.chmod(0o755)
    assert sorted(file.parent.iterdir()) == sorted(entries)
    return done.stdout.splitlines()


@pytest.mark.slow
def test_a_closed_transcript_is_replayed_from_a_folder_that_cannot_be_written(file: Path) -> None:
    writer(file, "recorded", 10).communicate("go\n")
    assert read_where_nothing_can_be_written(file) == ["recorded says 0", "WriteError"]


def killed(file: Path) -> None:
    process = writer(file, "recorded", math.inf)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("go\n")
    process.stdin.flush()
    for _ in range(50):
        process.stdout.readline()
    process.kill()
    process.communicate()


@pytest.mark.slow
def test_a_killed_transcript_is_replayed_from_a_folder_that_cannot_be_written(file: Path) -> None:
    killed(file)
    assert read_where_nothing_can_be_written(file) == ["recorded says 0", "WriteError"]


@pytest.mark.slow
def test_a_log_without_its_shared_memory_that_cannot_be_read_in_place_is_said(file: Path) -> None:
    killed(file)
    file.with_name("calls.sqlite-shm").unlink()
    read, _ = read_where_nothing_can_be_written(file)
    assert read.startswith("InputError")
    assert "copy calls.sqlite-wal with it to a folder that can be written" in read


@pytest.mark.slow
async def test_a_file_whose_log_was_left_behind_is_read_without_it(file: Path, tmp_path: Path) -> None:
    killed(file)
    alone = tmp_path / "alone" / "calls.sqlite"
    alone.parent.mkdir()
    with closing(sqlite3.connect(file)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        alone.write_bytes(file.read_bytes())
    assert alone.read_bytes()[18] == 2  # SQLite's mark of a file that had a log
    assert read_where_nothing_can_be_written(alone) == ["recorded says 0", "WriteError"]


FILLER = """
import asyncio, sys
from pathlib import Path
from localfact.errors import WriteError
from localfact.llm.engine import Message
from localfact.llm.scripted import ScriptedEngine
from localfact.llm.layers.recording import RecordingLayer

async def main(file):
    engine = RecordingLayer(ScriptedEngine(lambda chat: "kept"), file)
    number = 0
    try:
        while True:
            await engine.generate([Message("user", str(number)), Message("user", "x" * 2000)], max_tokens=9, stage="s")
            number += 1
    except WriteError as error:
        print(number, error)
    await engine.aclose()

asyncio.run(main(Path(sys.argv[1])))
"""


@pytest.mark.slow
async def test_a_full_disk_is_said_and_what_was_kept_stands(file: Path) -> None:
    limit = 200_000
    done = subprocess.run(
        [sys.executable, "-c", FILLER, str(file)],
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    kept, sentence = done.stdout.split(maxsplit=1)
    assert int(kept) > 10
    assert sentence.startswith(f"{file} cannot be written: ")
    replay = ReplayEngine(file)
    for number in range(int(kept)):
        chat = [Message("user", str(number)), Message("user", "x" * 2000)]
        assert (await replay.generate(chat, max_tokens=9, stage="s")).text == "kept"
    await replay.aclose()


def test_what_is_no_transcript_is_refused_and_left_as_it_is(file: Path) -> None:
    def refused(match: str) -> None:
        before = file.read_bytes()
        for opened in (prepare, ReplayEngine, identities):
            with pytest.raises(InputError, match=match):
                opened(file)
        assert file.read_bytes() == before
        file.unlink()

    file.write_text("These are the voyages. " * 100)
    refused("is no transcript")
    with closing(sqlite3.connect(file)) as database:
        database.execute("CREATE TABLE pages (id)")
    refused("is no transcript")
    prepare(file)
    with closing(sqlite3.connect(file)) as database:
        database.execute("PRAGMA user_version = 99")
    refused("has format 99, and this version of localfact reads format 3 alone")


@pytest.mark.slow
async def test_a_damaged_transcript_is_said_to_be_so(file: Path) -> None:
    recording = RecordingLayer(ScriptedEngine(lambda chat: "x " * 40), file)
    await asyncio.gather(*(generate(recording, str(number)) for number in range(100)))
    await recording.aclose()
    whole = file.read_bytes()
    file.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    with pytest.raises(InputError, match=r"is damaged: .* Copy it again"):
        ReplayEngine(file)
    file.write_bytes(whole)
    uncovered = ('{"text": "[Supported]", "tokens": []}', '{"text": "ab", "tokens": [{"log_prob": 0, "start": 1, "end": 2}]}')
    for answer in ("{}", "no JSON", '{"text": 1}', *uncovered):
        with closing(sqlite3.connect(file)) as database, database:
            database.execute("UPDATE calls SET base = NULL, answer = ?", (pack(answer, None),))
        replay = ReplayEngine(file)
        with pytest.raises(InputError, match="is damaged: what it keeps under the key"):
            await generate(replay, "1")
        await replay.aclose()
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("UPDATE identities SET identity = '{}'")
    with pytest.raises(InputError, match="is damaged: an identity"):
        identities(file)


def test_places_that_hold_no_transcript_are_named(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match="There is no transcript"):
        ReplayEngine(tmp_path / "none.sqlite")
    with pytest.raises(MissingError, match="There is no transcript"):
        identities(tmp_path / "none.sqlite")
    with pytest.raises(InputError, match="cannot be read"):
        ReplayEngine(tmp_path)
    with pytest.raises(WriteError, match="cannot be written"):
        prepare(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(WriteError, match="cannot be written"):
        prepare(tmp_path / "file" / "calls.sqlite")
    assert not (tmp_path / "none.sqlite").exists()


async def test_a_folder_that_is_not_there_yet_is_made_and_odd_names_of_files_work(tmp_path: Path) -> None:
    file = tmp_path / "Läufe" / "50 % #1?mode=memory.sqlite"
    recording = RecordingLayer(CountingEngine(), file)
    await generate(recording, "a")
    await recording.aclose()
    assert [path.name for path in file.parent.iterdir()] == [file.name]
    assert identities(file) == [IDENTITY]


async def test_a_reader_of_the_first_calls_holds_one_at_a_time(file: Path) -> None:
    recording = RecordingLayer(CountingEngine(), file)
    for number in range(20):
        await generate(recording, str(number) + "x" * 1_000_000)
    await recording.aclose()
    tracemalloc.start()
    try:
        calls, total = read_calls(file, 20, lambda text: text[:50])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (len(calls), total) == (20, 20)
    assert calls[7].sent.startswith("[system]")
    assert peak < 10_000_000
