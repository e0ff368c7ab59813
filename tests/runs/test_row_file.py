import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pass_files import EXTRACTOR, ROWS, DiesSoon, Opened, extract, rows_of, written
from roads import LineExtractor

from localfact.errors import EngineError, InputError, MissingError, RunFolderError, WriteError
from localfact.inputs.responses import read_responses
from localfact.records import Claim, Extraction, Response
from localfact.runs.row_file import RowFile


async def test_a_finished_file_opens_no_model_again_and_keeps_its_bytes(tmp_path: Path) -> None:
    data = written(tmp_path, *(row for row in ROWS if not (isinstance(row, dict) and row["id"] == "c")))
    first = await extract(data, tmp_path / "claims.jsonl")
    whole = (tmp_path / "claims.jsonl").read_bytes()
    opened = Opened()
    assert await extract(data, tmp_path / "claims.jsonl", opened) == first
    assert opened.opened == 0  # although a row of the input cannot be used
    assert (tmp_path / "claims.jsonl").read_bytes() == whole


async def test_only_failed_rows_are_tried_again(tmp_path: Path) -> None:
    class Mended:
        async def extract(self, response: Response) -> Extraction:
            return Extraction(claims=(Claim(id="c1", text="mended"),))

    data = written(tmp_path, *ROWS)
    await extract(data, tmp_path / "claims.jsonl")
    opened = Opened(Mended())
    summary = await extract(data, tmp_path / "claims.jsonl", opened)
    assert opened.asked == ["c"]
    assert (summary.failed, rows_of(tmp_path / "claims.jsonl")[4]["claims"][0]["text"]) == (1, "mended")


@given(keep=st.floats(0, 1), order=st.permutations(range(6)))
async def test_a_part_cut_off_anywhere_is_continued_to_the_same_bytes(
    tmp_path_factory: pytest.TempPathFactory, keep: float, order: list[int]
) -> None:
    folder = tmp_path_factory.mktemp("pass")
    data, out = written(folder, *ROWS), folder / "claims.jsonl"
    await extract(data, out)
    whole = out.read_bytes()
    lines = whole.splitlines(keepends=True)
    part = b"".join(lines[index] for index in order)
    out.unlink()
    out.with_name("claims.jsonl.part").write_bytes(part[: int(keep * len(part))])
    with contextlib.suppress(EngineError):  # the second call is stopped too, after the first row that it makes
        await extract(data, out, Opened(DiesSoon()), concurrency=1)
    await extract(data, out)
    assert out.read_bytes() == whole


async def test_a_cancelled_pass_keeps_its_rows_and_closes_its_model(tmp_path: Path) -> None:
    class Stuck(LineExtractor):
        reached = asyncio.Event()

        async def extract(self, response: Response) -> Extraction:
            if response.id == "d":
                self.reached.set()
                await asyncio.Event().wait()
            return await super().extract(response)

    data, out = written(tmp_path, *ROWS), tmp_path / "claims.jsonl"
    opened = Opened(Stuck())
    task = asyncio.create_task(extract(data, out, opened, concurrency=1))
    await Stuck.reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (opened.closed, out.exists()) == (1, False)  # a file under its own name is whole
    rest = Opened()
    await extract(data, out, rest)
    assert rest.asked == ["c", "d"]
    await extract(data, tmp_path / "whole.jsonl")
    assert out.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


@pytest.mark.parametrize("error", [EngineError("the engine died"), MissingError("no weights")])
async def test_what_concerns_all_rows_stops_the_pass_and_keeps_what_was_made(tmp_path: Path, error: Exception) -> None:
    class Dying(LineExtractor):
        async def extract(self, response: Response) -> Extraction:
            if response.id == "b":
                raise error
            return await super().extract(response)

    data, out = written(tmp_path, *ROWS), tmp_path / "claims.jsonl"
    opened = Opened(Dying())
    with pytest.raises(type(error), match=str(error)):
        await extract(data, out, opened, concurrency=1)
    assert opened.closed == 1
    rest = Opened()
    await extract(data, out, rest)
    assert "a" not in rest.asked


async def test_other_settings_are_refused_with_the_difference_unless_forced(tmp_path: Path) -> None:
    data, out = written(tmp_path, *ROWS), tmp_path / "claims.jsonl"
    await extract(data, out)
    before = out.read_bytes()
    with pytest.raises(RunFolderError, match=r"extractor\.name: lines -> words"):
        await extract(data, out, extractor={**EXTRACTOR, "name": "words"})
    with pytest.raises(RunFolderError, match=r"data\.sha256"):
        await extract(written(tmp_path, *ROWS[1:], name="other.jsonl"), out)
    assert out.read_bytes() == before
    await extract(data, out, extractor={**EXTRACTOR, "name": "words"}, force=True)
    assert rows_of(out)[0]["extractor"]["name"] == "words"


async def test_another_version_only_warns(tmp_path: Path) -> None:
    data, out = written(tmp_path, {"response": "one"}), tmp_path / "claims.jsonl"
    await extract(data, out, versions={"localfact": "1"})
    summary = await extract(data, out, versions={"localfact": "2"})
    assert summary.warnings == ("The file was begun with another version: localfact: 1 -> 2.",)


async def test_files_of_others_and_the_input_itself_are_never_written_over(tmp_path: Path) -> None:
    data = written(tmp_path, *ROWS)
    thesis = tmp_path / "thesis.tex"
    thesis.write_text("years of work")
    before = data.read_bytes()
    with pytest.raises(RunFolderError, match="made by something else"):
        await extract(data, thesis, force=True)
    with pytest.raises(InputError, match="is the input itself"):
        await extract(data, tmp_path / "." / "data.jsonl", force=True)
    with pytest.raises(InputError, match="no plain file"):
        await extract(data, tmp_path)
    await extract(data, tmp_path / "claims.jsonl")
    claims = (tmp_path / "claims.jsonl").read_bytes()
    with pytest.raises(InputError, match="is the input itself"):
        await extract(tmp_path / "claims.jsonl", tmp_path / "claims.jsonl", force=True)
    assert (thesis.read_text(), data.read_bytes()) == ("years of work", before)
    assert (tmp_path / "claims.jsonl").read_bytes() == claims


async def test_a_second_process_on_the_file_is_refused(tmp_path: Path) -> None:
    data, out = written(tmp_path, *ROWS), tmp_path / "claims.jsonl"
    with RowFile(out, {}), pytest.raises(RunFolderError, match="Another process"):
        await extract(data, out)
    assert (await extract(data, out)).rows == 6


async def test_a_damaged_line_or_settings_file_is_an_error_and_left_as_it_is(tmp_path: Path) -> None:
    data, out = written(tmp_path, *ROWS), tmp_path / "claims.jsonl"
    await extract(data, out)
    whole = out.read_bytes()
    out.write_bytes(whole.replace(b'{"id": "b"', b'{"id": 7', 1))
    with pytest.raises(InputError, match="line 3, is damaged"):
        await extract(data, out)
    out.write_bytes(whole)
    (tmp_path / "claims.jsonl.run.yaml").write_text("[")
    with pytest.raises(InputError, match=r"run\.yaml is damaged"):
        await extract(data, out)
    assert out.read_bytes() == whole


async def test_a_full_disk_takes_the_half_written_line_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, out = written(tmp_path, *ROWS), tmp_path / "claims.jsonl"
    part = tmp_path / "claims.jsonl.part"
    synced = os.fsync

    def full(descriptor: int) -> None:
        if part.exists() and part.read_bytes().count(b"\n") == 3:
            raise OSError(28, "No space left on device")
        synced(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(WriteError, match="No space left on device"):
        await extract(data, out, concurrency=1)
    assert part.read_bytes().count(b"\n") == 2
    monkeypatch.undo()
    await extract(data, out)
    await extract(data, tmp_path / "whole.jsonl")
    assert out.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


async def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WriteError, match="cannot be written"):
        await extract(written(tmp_path, *ROWS), tmp_path / "file" / "claims.jsonl")


PROGRAM = """
import asyncio, sys
from pathlib import Path
from localfact.llm.scripted import ScriptedEngine
from localfact.runs.passes import PassOptions
from localfact.api.generate import generate_file
from localfact.api.extract import extract_file
from localfact.records import Claim, Extraction

folder, name, stuck_after = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
begun = 0

async def perhaps_stuck():
    global begun
    begun += 1
    if begun > stuck_after:
        print("stuck", flush=True)
        await asyncio.Event().wait()
    for _ in range(begun % 3):
        await asyncio.sleep(0)

class Engine(ScriptedEngine):
    async def generate(self, chat, **options):
        await perhaps_stuck()
        return await super().generate(chat, **options)

class Extractor:
    async def extract(self, response):
        await perhaps_stuck()
        return Extraction(claims=(Claim(id="c1", text="Of " + response.text),))

engine = Engine(lambda chat: "An answer to " + chat[0].content)
pass_options = PassOptions(concurrency=2)
if name.startswith("responses"):
    data, opened = folder / "prompts.jsonl", lambda opened: engine
    made = generate_file(data, folder / name, opened, identity=engine.identity, pass_options=pass_options)
else:
    opened = lambda stack: Extractor()
    made = extract_file(folder / "data.jsonl", folder / name, opened, extractor={"name": "one"}, pass_options=pass_options)
asyncio.run(made)
"""


def start(folder: Path, name: str, stuck_after: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(folder), name, str(stuck_after)], stdout=subprocess.PIPE, text=True
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["responses", "claims"])
def test_a_process_killed_in_the_middle_is_continued_to_the_same_bytes(tmp_path: Path, name: str) -> None:
    written(tmp_path, *({"prompt": f"Prompt {number}?"} for number in range(12)), "[]", name="prompts.jsonl")
    written(tmp_path, *({"response": f"Text {number}."} for number in range(12)), "[]")
    assert start(tmp_path, f"{name}-whole", 99).wait() == 0
    process = start(tmp_path, f"{name}-killed", 7)
    assert process.stdout is not None
    assert process.stdout.readline() == "stuck\n"
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    process.stdout.close()
    part = tmp_path / f"{name}-killed.part"
    assert 7 <= part.read_bytes().count(b"\n") <= 8  # of 7 begun at most one is at work still; and the row that is none
    with part.open("ab") as file:
        file.write(b'{"id": "row-9", "promp')  # as a kill in the middle of a write leaves it
    assert start(tmp_path, f"{name}-killed", 99).wait() == 0
    assert (tmp_path / f"{name}-killed").read_bytes() == (tmp_path / f"{name}-whole").read_bytes()
    assert not part.exists()
    assert len(read_responses(tmp_path / f"{name}-killed")) == 13
