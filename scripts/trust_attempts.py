"""Attempts of `scripts/attempts.py` on what is trusted in part: model cards, servers, settings files."""

import asyncio
import contextlib
import json
import math
import os
import random
import time
import unicodedata
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from unittest.mock import patch

from typer.main import get_command
from typer.testing import CliRunner

from localfact.cli.main import COMMANDS, GROUPS, app
from localfact.cli.options import OPENING, fields_of
from localfact.cli.settings_file import OF_COMMANDS, read_settings
from localfact.errors import LocalFactError
from localfact.llm.cores import server
from localfact.llm.placing.hardware import detect
from localfact.llm.placing.settings import engine_settings
from localfact.llm.tokens.token_engine import TokenAnswer, TokenRequest
from localfact.methods.options import Options
from localfact.models.cards import load_card
from localfact.models.download import choose_files, part_of, remote_file
from localfact.models.model_card import ModelCard
from localfact.runtime.hiding import repeats
from scripts.web_attempts import served

#: Seconds in which one attempt must have ended, and the characters of the longest sentence.
LONGEST, SENTENCE = 10.0, 1_500
#: Values in YAML, of any field and any setting.
VALUES = (
    '"a\\nb"', '"a\\u2028b"', '"a\\0b"', '".."', '"../x"', '"/etc/passwd"', '"a\\\\"', '"."', '".git"', '"\\ud800"', "~", "yes",
    '"' + "a" * 100_000 + '"', "!!python/object/apply:os.system [touch ran]", "!!binary aGk=", "2020-01-01", "5", "-1", ".nan",
    "0x" + "f" * 6_000, "1e999", "9" * 4_000, "[" * 300 + "]" * 300, "&a [*a]", "*x", "<<", "!!set {a}", "[[a, b]]",
    "{a: {b: c}}",
    "{tokenize: yes}", "{__class__: x}", "{chat_template: x}", "/dev/zero", "[llm, llm]", '"{premise}"', "refs/pr/1",
    "sha256:00",
)  # fmt: skip
TOKEN = "s3cret-tok_en.Value"


def _ended(work: Callable[[], str | None]) -> str | None:
    """What is wrong with how the work ended: it may return None, or raise an error in one sentence."""
    begin = time.monotonic()
    try:
        found = work()
    except LocalFactError as error:
        seen = any(unicodedata.category(sign) == "Cc" for sign in str(error))
        found = f"no sentence: {str(error)[:200]!r}" if seen or len(str(error)) > SENTENCE else None
    except Exception as error:  # any at all is a finding
        found = repr(error)[:300]
    return f"{time.monotonic() - begin:.0f} s" if found is None and time.monotonic() - begin > LONGEST else found


def cards(count: int, seed: int, folder: Path) -> Iterator[str | None]:
    """Cards with any value in any field, and files that a hub lists: nothing is written but below the folder of the weights."""
    chance, hardware = random.Random(f"cards {seed}"), detect()
    file = folder / "card.yaml"
    pieces = ("..", "/", "a", ".json", "\0", "\n", "\\", ".", "model.safetensors", "x" * 300, "\u2028")

    def read() -> str | None:
        card = load_card(str(file))
        card.model_dump_json()
        outside = (folder / card.name).resolve().parent != folder.resolve() or card.name.startswith(".")
        if not outside and "llm" in card.roles:
            engine_settings(card, hardware=hardware)
        return f"the name {card.name!r}" if outside else None

    def listed() -> str | None:
        with contextlib.suppress(ValueError):
            mark = chance.choice(("", "0" * 40, "/../../x", "..", "0" * 64))
            one = remote_file("".join(chance.choices(pieces, k=4)), chance.choice((0, 5, -1, 10**30)), mark)
            for kept in choose_files([remote_file("model.safetensors", 1, None), one]):
                for path in (folder / kept.name, part_of(folder, kept)):
                    if not path.resolve().is_relative_to(folder.resolve()):
                        return f"a file of a hub at {path}"
        return None

    for _ in range(count):
        fields = {
            "name": "x",
            "revision": "main",
            "roles": "[llm]",
            "hub": "a/b",
            "weights_gib": "{stored: 1}",
            "kv_bytes": "9",
        }
        changed = chance.choices(sorted({*ModelCard.model_fields, "extra"}), k=chance.choice((1, 1, 2)))
        fields |= {name: chance.choice(VALUES) for name in changed}
        file.write_text("".join(f"{name}: {value}\n" for name, value in fields.items()), encoding="utf-8")
        end = _ended(read) or _ended(listed)
        made = {path.name for path in folder.iterdir()} - {file.name}
        yield f"{changed}: {end or f'made {made}'}" if end or made else None


def endpoints(count: int, seed: int, folder: Path) -> Iterator[str | None]:
    """Servers in place of vLLM: an answer is one that can be, or refused in time; the token is in neither."""
    chance = random.Random(f"endpoints {seed}")
    limits = {"ANSWER_SECONDS": 1.0, "PATIENCE_SECONDS": 0.1, "FIRST_PAUSE": 0.05}
    with patch.multiple(server, **limits), patch.dict(os.environ, {server.TOKEN: TOKEN}):
        for _ in range(count):
            head, body, endless = _answer(chance)
            end = _ended(lambda: _impossible(asyncio.run(_asked(head, body, endless))))  # noqa: B023
            yield f"{head[:80]!r}, {body[:300]!r}, {endless}: {end}" if end else None


def _answer(chance: random.Random) -> tuple[bytes, bytes, bool]:
    """Head and beginning of the body of an answer, and whether its last part comes without end."""
    token = chance.choice((TOKEN, "\n".join(TOKEN), TOKEN.upper(), "\u200b".join(TOKEN)))
    odd = (token, -1, 2**70, -1e999, math.nan, None, [], {}, [[[]]], "x" * 9_000, True, 0, 1.5)
    top = {chance.choice(("token_id:1", "token_id:2", "token_id:01", "token_id:-1", "x", token)): -0.1 for _ in range(3)}
    logs = {"token_logprobs": [-0.1], "top_logprobs": [chance.choice((top, {"token_id:1": 0.0, "token_id:2": 0.0}, top))]}
    said = {"token_ids": [5], "logprobs": logs, "finish_reason": "length", "text": "x", "stop_reason": None}
    if chance.random() < 0.7:
        said[chance.choice(sorted(said))] = chance.choice(odd)
    written = json.dumps({"choices": [said] * chance.choice((0, 1, 1, 2)), "usage": chance.choice((None, 1, [], {"a": token}))})
    body = chance.choice((written, written, written, written + "}", token, "[" * 50_000, json.dumps({"error": token}))).encode()
    body = chance.choice((body, body, b"\xff" + body, b"9\r\n" + body, b'{"a":[' + b"{}," * 500_000))
    status = chance.choice(("200 OK", "200 OK", "400 B", f"500 {token}", "307 T", "404 N", "103 E", f"xx {token}", "429 M"))
    extra = chance.choice(
        ("", "", f"Location: http://127.0.0.1:1/{TOKEN}\r\n", "Transfer-Encoding: chunked\r\n", "Content-Length: 3\r\n",
         "Content-Encoding: gzip\r\n", "Set-Cookie: a=b\r\n" * 50, f"{token}\r\n", "X: " + "a" * 300_000 + "\r\n",
         "Content-Length: 99999999999\r\n")
    )  # fmt: skip
    return f"HTTP/1.1 {status}\r\n{extra}\r\n".encode(), body, chance.random() < 0.1


async def _asked(head: bytes, body: bytes, endless: bool) -> TokenAnswer:
    async def pieces() -> AsyncIterator[bytes]:
        yield head + body
        while endless:
            yield body or b" "

    async with served(pieces) as port:
        core = server.ServerCore(f"http://127.0.0.1:{port}", "m", 100)
        try:
            return await core.ask([1], TokenRequest(max_tokens=1, children=(1, 2), stop=("end",)))
        except LocalFactError as error:
            if repeats(str(error), TOKEN):
                raise AssertionError(f"the token in: {error}") from None
            raise
        finally:
            core.end()


def _impossible(answer: TokenAnswer) -> str | None:
    sums = [math.fsum(map(math.exp, place.values())) for place in answer.log_probs]
    fine = all(found <= 1.02 for found in sums) and len(answer.ids) <= 1 and not repeats(repr(answer), TOKEN)
    return None if fine else f"taken for an answer: {str(answer)[:200]}"


def settings(count: int, seed: int, folder: Path) -> Iterator[str | None]:
    """Settings files with any value of any setting, and with what only the command line opens, for every command."""
    chance = random.Random(f"settings {seed}")
    every: list[tuple[tuple[str, ...], Callable[..., object]]] = [((name,), one) for name, one in COMMANDS.items()]
    for group, inner in GROUPS.items():
        found = [(one.name, one.callback) for one in inner.registered_commands]
        every += [((group, name or one.__name__), one) for name, one in found if one is not None]
    taking = [words for words, one in every if fields_of(one) & set(OPENING) - {"corpus"}]
    file = folder / "localfact.yaml"

    def opened(words: tuple[str, ...]) -> str | None:
        command = get_command(app)
        for word in words:
            command = command.commands[word]  # type: ignore[attr-defined]
        names = sorted({one.name for one in command.params} & set(OPENING) - {"corpus"})
        file.write_text("".join(f"{name}: a.example\n" for name in chance.sample(names, chance.randint(1, len(names)))))
        typed = [
            part for one in command.params if one.required for part in (*one.opts[-1:], "1") if part[:2] == "--" or part == "1"
        ]
        done = CliRunner().invoke(app, ["--config", str(file), *words, *typed])
        return None if "only you can open" in str(done.exception) else f"{words}: {file.read_text()!r} is taken"

    for _ in range(count):
        if chance.random() < 0.3:
            yield _ended(lambda: opened(chance.choice(taking)))
        else:
            name = chance.choice(sorted({*Options.model_fields, *OF_COMMANDS, "other"}))
            file.write_text(f"{name}: {chance.choice(VALUES)}\n")
            end = _ended(lambda: None if isinstance(read_settings(file), dict) else "no settings")
            yield end and f"{name}: {end}"
