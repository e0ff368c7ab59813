from pathlib import Path

from pass_files import EXTRACTOR, ROWS, Opened, extract, rows_of, written
from roads import LineExtractor

from localfact.assembling import gold_counts
from localfact.inputs.responses import read_responses
from localfact.llm.layers.metering import MeteringLayer
from localfact.llm.scripted import ScriptedEngine
from localfact.records import Claim, Extraction, Response, passage_id


async def test_every_response_gets_its_claims_in_the_order_of_the_input_and_bad_rows_say_why(tmp_path: Path) -> None:
    opened = Opened()
    summary = await extract(written(tmp_path, *ROWS), tmp_path / "new/claims.jsonl", opened)
    rows = rows_of(tmp_path / "new/claims.jsonl")
    assert [row["id"] for row in rows] == ["a", "row-2", "b", "b#2", "c", "d"]
    assert [claim["text"] for claim in rows[0]["claims"]] == ["One line.", "Another line."]
    assert {name: rows[0][name] for name in ("prompt", "topic", "source", "model")} == {
        "prompt": "Why?", "topic": "t", "source": "s", "model": "m"
    }  # fmt: skip
    assert rows[0]["extractor"] == EXTRACTOR
    assert "not JSON" in rows[1]["error_message"]
    assert rows[4]["error_message"] == "ZeroDivisionError: a bug"
    assert rows[4]["response"] == "boom"
    assert (summary.rows, summary.failed, summary.exit_code) == (6, 2, 1)
    assert (summary.counts["claims"], summary.counts["abstained"]) == (6, 1)
    assert any("2 rows failed. row-2: " in warning for warning in summary.warnings)
    assert (opened.opened, opened.closed) == (1, 1)
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["claims.jsonl", "claims.jsonl.run.yaml"]


async def test_the_claims_file_is_what_eval_reads(tmp_path: Path) -> None:
    await extract(written(tmp_path, *ROWS), tmp_path / "claims.jsonl")
    before, after = read_responses(tmp_path / "data.jsonl"), read_responses(tmp_path / "claims.jsonl")
    assert [response.id for response in after] == [response.id for response in before]
    assert [response.text for response in after] == [response.text for response in before]
    assert [response.problem is None for response in after] == [True, False, True, True, False, True]
    assert after[4].problem == "ZeroDivisionError: a bug"
    expected = (await LineExtractor().extract(after[0])).claims
    assert after[0].claims == expected
    assert after[3].claims == ()


async def test_annotated_claims_and_passages_are_kept_and_claims_are_taken_anew(tmp_path: Path) -> None:
    row = {
        "response": "One.\nTwo.",
        "claims": [
            {"id": "g1", "text": "One.", "label": "S", "in_corpus": True, "passages": ["p1", "p2"]},
            {"id": "g2", "text": "Elsewhere.", "label": "NS"},
            {"id": "g3", "text": "Two.", "label": "IR"},
        ],
        "passages": [
            {"id": "p1", "title": "T", "link": "https://h.example/1", "date": "2001", "text": "same"},
            {"id": "p2", "link": "https://h.example/2", "text": "same"},
            {"id": "p3", "text": "other"},
        ],
        "sources": {"1": "a source", "Molen, 1891": {"title": "Port", "url": "https://h.example/4"}, "3": None},
    }
    data = written(tmp_path, row)
    await extract(data, tmp_path / "claims.jsonl")
    (before,), (after,) = read_responses(data), read_responses(tmp_path / "claims.jsonl")
    assert [claim.text for claim in after.claims or ()] == ["One.", "Two."]
    assert after.annotation == before.claims
    assert gold_counts(after) == gold_counts(before) == (1, 1)
    assert before.evidence is not None
    assert after.evidence is not None
    assert after.evidence.passages == before.evidence.passages
    assert after.sources == before.sources
    assert rows_of(tmp_path / "claims.jsonl")[0]["annotation"][0]["passages"] == [passage_id("same")] * 2
    await extract(tmp_path / "claims.jsonl", tmp_path / "again.jsonl")
    (again,) = read_responses(tmp_path / "again.jsonl")
    assert (again.annotation, again.claims) == (after.annotation, after.claims)


async def test_what_the_extractor_said_and_spent_is_kept_and_added_up(tmp_path: Path) -> None:
    class Talkative:
        def __init__(self) -> None:
            self.engine = MeteringLayer(ScriptedEngine(lambda chat: "two words"))

        async def extract(self, response: Response) -> Extraction:
            from localfact.llm.engine import Message

            answer = await self.engine.generate([Message("user", response.text)], max_tokens=9, stage="extract")
            claim = Claim(id="c1", text=answer.text)
            return Extraction(claims=(claim,), unparsed=("what?",), counts={"chunks": 2}, warnings=("Mind the gap.",))

    data = written(tmp_path, {"response": "one"}, {"response": "two three"})
    summary = await extract(data, tmp_path / "claims.jsonl", Opened(Talkative()))
    row = rows_of(tmp_path / "claims.jsonl")[0]
    assert row["extraction"]["unparsed"] == ["what?"]
    assert row["extraction"]["usage"] == {"extract": {"calls": 1, "requests": 1, "prompt_tokens": 1, "output_tokens": 2}}
    assert summary.usage == {"extract": {"calls": 2, "requests": 2, "prompt_tokens": 3, "output_tokens": 4}}
    assert summary.counts == {"chunks": 4, "claims": 2, "abstained": 0, "lines_unparsed": 2}
    assert summary.warnings == ("Mind the gap. (2 responses)",)
