"""The engine over a server: a real vLLM server, killed and begun again, and doubles of servers that cannot be had here."""

import asyncio
import gzip
import json
import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from engines import NEEDS_VLLM
from typer.testing import CliRunner
from vllm_server import VLLMServer

from localfact.cli.main import app
from localfact.errors import EngineError, InputError, MissingError, RequestError
from localfact.llm.cores import endpoint, server
from localfact.llm.cores.endpoint import EndpointEngine, endpoint_settings
from localfact.llm.cores.server import TOKEN
from localfact.llm.engine import Choice, Message
from localfact.methods.engine import engine_facts, same_model
from localfact.methods.options import Options
from localfact.models.cards import load_card
from localfact.models.weights import PULLED_FILE, Pulled

CHAT = (Message("system", "Answer in one word."), Message("user", "Is the café in Zürich open? 🌦"))
LABELS = ["Supported", "Non-supported", "Likely supported", "Unsure"]


def assert_same(one: Choice, other: Choice) -> None:
    """The probabilities, of labels among themselves and of all of them together, are the same to 0.001."""
    assert one.distribution == pytest.approx(other.distribution, abs=1e-3)
    assert one.mass == pytest.approx(other.mass, abs=1e-3)
    assert one.log_probs == pytest.approx(other.log_probs, abs=1e-2)


@pytest.mark.models
@NEEDS_VLLM
async def test_label_probabilities_and_texts_are_those_of_the_engine_in_this_process(
    byte_engine: Any, endpoint_engine: Any
) -> None:
    for prefix in ("", "The answer is: "):
        ours, theirs = [
            await engine.choose(CHAT, LABELS, prefix=prefix, whole=True, stage="x") for engine in (byte_engine, endpoint_engine)
        ]
        assert_same(theirs, ours)
        assert theirs.whole == pytest.approx(ours.whole, abs=1e-2)
        assert theirs.usage.prompt_tokens == ours.usage.prompt_tokens
    ours, theirs = [await engine.generate(CHAT, max_tokens=40, stage="x") for engine in (byte_engine, endpoint_engine)]
    assert (theirs.text, theirs.finish) == (ours.text, ours.finish)
    assert [token.log_prob for token in theirs.tokens] == pytest.approx([token.log_prob for token in ours.tokens], abs=1e-2)
    assert await endpoint_engine.count(CHAT) == await byte_engine.count(CHAT)


@pytest.mark.models
@NEEDS_VLLM
async def test_a_server_that_is_killed_and_begun_again_loses_no_request(
    byte_engine: Any, byte_folder: Path, vllm_at: VLLMServer
) -> None:
    engine = EndpointEngine(endpoint_settings(load_card(str(byte_folder)), vllm_at.at))
    chats = [(Message("user", f"Is the mill number {number} open?"),) for number in range(40)]
    asked = [asyncio.create_task(engine.choose(chat, LABELS, stage="x")) for chat in chats[:20]]
    await asked[0]
    await asyncio.to_thread(vllm_at.kill)
    asked += [asyncio.create_task(engine.choose(chat, LABELS, stage="x")) for chat in chats[20:]]
    await asyncio.sleep(0)
    assert not all(one.done() for one in asked)
    await asyncio.to_thread(vllm_at.begin)
    found = await asyncio.gather(*asked)
    expected = [await byte_engine.choose(chat, LABELS, stage="x") for chat in chats]
    for theirs, ours in zip(found, expected, strict=True):
        assert_same(theirs, ours)
    await engine.aclose()


@pytest.mark.models
@NEEDS_VLLM
def test_a_command_asks_the_server_and_its_token_is_in_no_file(
    byte_folder: Path, vllm_at: VLLMServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(TOKEN, "s3cret-token")
    Path("prompt.txt").write_text("Is the mill open?")
    at = ["--model", str(byte_folder), "--endpoint", f"{vllm_at.at}/v1"]
    choose = ["choose", "--labels", "yes,no", "--prompt-file", "prompt.txt", "--json"]
    asked = CliRunner().invoke(app, [*choose, *at, "--transcript", "calls.sqlite"])
    again = CliRunner().invoke(app, [*choose, "--replay", "calls.sqlite"])
    assert (asked.exit_code, again.exit_code) == (0, 0), f"{asked.output} {again.output}"
    assert json.loads(asked.stdout)["log_probs"] == json.loads(again.stdout)["log_probs"]
    claim = {"id": "a", "text": "The mill opened in 1911.", "passages": ["p"]}
    row = {"response": "The mill opened in 1911.", "claims": [claim], "passages": [{"id": "p", "text": "It opened in 1913."}]}
    Path("rows.jsonl").write_text(json.dumps(row) + "\n")
    judge = ["eval", "--data", "rows.jsonl", "--method", "factreasoner-fr1", "--embedder", "none", "--out", "run"]
    assert CliRunner().invoke(app, [*judge, *at]).exit_code == 1  # the tiny model's window is too small for a pair
    assert vllm_at.at in Path("run/run.yaml").read_text()
    assert "as served" in Path("run/run.yaml").read_text()
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or b"s3cret-token" not in file.read_bytes()


# What cannot be had: old servers, servers that refuse, servers that are no vLLM.

Answer = tuple[int, Any]


@contextmanager
def double(answers: Callable[[str, dict[str, Any], dict[str, str]], Answer]) -> Iterator[str]:
    """A server that answers so: path, body and headers -> status and JSON."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer({})

        def do_POST(self) -> None:
            self._answer(json.loads(self.rfile.read(int(self.headers["content-length"]))))

        def _answer(self, body: dict[str, Any]) -> None:
            status, said = answers(self.path, body, {name.lower(): value for name, value in self.headers.items()})
            if not status:  # hangs up, after longer than there is patience
                time.sleep(1.5)
                self.close_connection = True
                return
            written = said.encode() if isinstance(said, str) else json.dumps(said).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(written)))
            self.end_headers()
            self.wfile.write(written)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


MODELS = {"data": [{"id": "mine", "max_model_len": 512}]}


def completion(log_probs: dict[int, float]) -> dict[str, Any]:
    top = {f"token_id:{token}": value for token, value in log_probs.items()}
    said = {"token_ids": [0], "text": "", "finish_reason": "length", "stop_reason": None}
    return {"choices": [{**said, "logprobs": {"token_logprobs": [-1.0], "top_logprobs": [top]}}], "usage": {"prompt_tokens": 3}}


def completion_of_words() -> dict[str, Any]:
    said = {"token_ids": [0], "text": "", "finish_reason": "length", "stop_reason": None}
    return {"choices": [{**said, "logprobs": {"token_logprobs": [-1.0], "top_logprobs": [{"the": -1.0}]}}]}


class Old:
    """A server that reports its most probable tokens, whichever it is asked about. `fails`: what it answers first."""

    def __init__(self, decoder: Any, *fails: Answer, models: Any = MODELS, tokens: list[int] | None = None) -> None:
        self.decoder, self.fails, self.models, self.tokens = decoder, list(fails), models, tokens
        self.seen: list[dict[str, str]] = []

    def __call__(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> Answer:
        self.seen.append(headers)
        if path == "/v1/models":
            return 200, self.models
        if path == "/tokenize":
            return 200, {"tokens": self.tokens or self.decoder.encode(body["prompt"], add_special_tokens=False).ids}
        if self.fails and len(body["prompt"]) > 3:
            return self.fails.pop(0)
        return 200, completion({5000: -0.1, **({body["logprob_token_ids"][0]: -2.5} if "logprob_token_ids" in body else {})})


@pytest.fixture
def decoder(byte_folder: Path) -> Any:
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(byte_folder / "tokenizer.json"))


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "PATIENCE_SECONDS", 1.0)
    monkeypatch.setattr(server, "FIRST_PAUSE", 0.05)


def opened(folder: Path, address: str) -> EndpointEngine:
    return EndpointEngine(endpoint_settings(load_card(str(folder)), address))


def test_of_an_older_server_the_mass_is_what_was_seen_and_its_identity_says_so(byte_folder: Path, decoder: Any) -> None:
    with double(Old(decoder)) as address:
        engine = opened(byte_folder, address)
        assert engine.identity.revision.endswith("+endpoint(mine)+top20")
        choice = asyncio.run(engine.choose(CHAT, ["Yes", "No"], stage="x"))
        asyncio.run(engine.aclose())
    seen, unseen = sorted(choice.log_probs.values(), reverse=True)
    assert (seen, unseen) == (-2.5, server.UNSEEN)
    assert choice.mass == pytest.approx(2.718281828**-2.5)


def test_a_busy_server_is_asked_again_and_one_that_hangs_up_too(byte_folder: Path, decoder: Any, impatient: None) -> None:
    server = Old(decoder, (0, "hangs up"), (429, {"error": {"message": "too many"}}), (503, "busy"))
    with double(server) as address:
        engine = opened(byte_folder, address)
        assert asyncio.run(engine.choose(CHAT, ["Yes", "No"], stage="x")).log_probs
        assert server.fails == []
        asyncio.run(engine.aclose())


@pytest.mark.parametrize(
    ("answer", "error", "said"),
    [
        ((400, {"error": {"message": "too\nlong"}}), InputError, "too long"),
        ((500, {"error": {"message": "broken"}}), RequestError, "broken"),
        ((401, {"error": "no"}), EngineError, TOKEN),
        ((404, {"error": {"message": "no such model"}}), EngineError, "no such model"),
        ((200, "nothing"), RequestError, "200"),
        ((200, {"choices": []}), RequestError, "not vLLM's"),
        ((200, completion_of_words()), RequestError, "not vLLM's"),
    ],
)
def test_what_a_server_refuses_is_told(
    byte_folder: Path, decoder: Any, answer: Answer, error: type[Exception], said: str
) -> None:
    with double(Old(decoder, answer)) as address:
        engine = opened(byte_folder, address)
        with pytest.raises(error, match=said):
            asyncio.run(engine.choose(CHAT, ["Yes", "No"], stage="x"))
        asyncio.run(engine.aclose())


def test_the_token_of_the_environment_is_sent_and_stands_in_no_settings(
    byte_folder: Path, decoder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TOKEN, "s3cret")
    server = Old(decoder)
    with double(server) as address:
        settings = endpoint_settings(load_card(str(byte_folder)), address)
    assert {one.get("authorization") for one in server.seen} == {"Bearer s3cret"}
    assert "s3cret" not in settings.model_dump_json()


def test_a_server_that_is_not_there_is_waited_for_and_then_told(byte_folder: Path, impatient: None) -> None:
    with pytest.raises(EngineError, match="does not answer"):
        endpoint_settings(load_card(str(byte_folder)), "http://127.0.0.1:9")


def test_a_cancelled_request_is_given_up_and_the_engine_goes_on(byte_folder: Path, decoder: Any) -> None:
    async def go(engine: EndpointEngine) -> None:
        asked = asyncio.create_task(engine.choose(CHAT, ["Yes", "No"], stage="x"))
        while len(server.fails) > 1:
            await asyncio.sleep(0.01)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        assert (await engine.choose(CHAT, ["Yes", "No"], stage="x")).log_probs
        await engine.aclose()
        with pytest.raises(EngineError):
            await engine.choose(CHAT, ["Yes", "No"], stage="x")

    server = Old(decoder, (503, "busy"), (503, "busy"))
    with double(server) as address:
        asyncio.run(go(opened(byte_folder, address)))


@pytest.mark.parametrize(
    ("models", "said"),
    [
        ({"data": [{"id": "a", "max_model_len": 9}, {"id": "b", "max_model_len": 9}]}, "serves a, b, and none is called"),
        ({"data": []}, "serves nothing"),
        ({"data": [{"id": "a"}]}, "no vLLM server"),
        ({"models": 3}, "no vLLM server"),
    ],
)
def test_what_is_served_must_be_known(byte_folder: Path, decoder: Any, models: Any, said: str) -> None:
    with double(Old(decoder, models=models)) as address, pytest.raises((InputError, EngineError), match=said):
        endpoint_settings(load_card(str(byte_folder)), address)


SERVED = {"qwen2.5-7b": "qwen2.5-7b", "/srv/weights/qwen2.5-7b/": "qwen2.5-7b", "Qwen/Qwen2.5-7B-Instruct": "qwen2.5-7b"}


@pytest.mark.parametrize("served", SERVED)
def test_the_model_is_the_server_s_where_none_is_named_and_of_it_a_tokenizer_is_enough(
    byte_folder: Path, decoder: Any, served: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    options = Options(embedder="none", relations="llm", queries="claim")
    with double(Old(decoder, models={"data": [{"id": served, "max_model_len": 512}]})) as address:
        options = options.model_copy(update={"endpoint": address})
        with pytest.raises(MissingError, match=r"MB of tokenizer.*models pull qwen2.5-7b --tokenizer-only"):
            engine_facts(options)
        folder = tmp_path / "models" / "weights" / SERVED[served]
        folder.mkdir(parents=True)
        pulled = Pulled(hub="Qwen/Qwen2.5-7B-Instruct", revision=load_card("qwen2.5-7b").revision)
        (folder / PULLED_FILE).write_text(yaml.safe_dump(pulled.model_dump()))
        for name in ("tokenizer.json", "tokenizer_config.json"):
            (folder / name).write_bytes((byte_folder / name).read_bytes())
        facts = engine_facts(options)
        assert facts.identity.model == "qwen2.5-7b"
        assert facts.identity.revision.startswith(f"{pulled.revision}+endpoint")
        assert facts.settings is not None
        asyncio.run(EndpointEngine(facts.settings).aclose())


@pytest.mark.parametrize(
    ("models", "said"),
    [
        ([{"id": "a", "max_model_len": 9}, {"id": "b", "max_model_len": 9}], "serves a, b: name one with --model"),
        ([{"id": "default", "max_model_len": 9}], "calls its model 'default', which is neither a card nor a hub id"),
        ([{"id": "/etc/../../passwd", "max_model_len": 9}], "neither a card nor a hub id"),
    ],
)
def test_what_a_server_calls_its_model_must_say_which_it_is(decoder: Any, models: Any, said: str) -> None:
    with double(Old(decoder, models={"data": models})) as address, pytest.raises(InputError, match=said):
        endpoint_settings(None, address)


def test_an_address_at_which_nothing_has_answered_is_not_waited_for_like_a_server_that_is_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server, "FIRST_SECONDS", 0.1)
    with pytest.raises(EngineError, match="does not answer"):
        endpoint_settings(None, "http://127.0.0.1:9")


def test_another_tokenizer_is_found_out_before_anything_is_asked(byte_folder: Path, decoder: Any) -> None:
    with double(Old(decoder, tokens=[1, 2, 3])) as address, pytest.raises(InputError, match="whose tokenizer is not that"):
        opened(byte_folder, address)


@pytest.mark.parametrize(
    "address",
    ["", "127.0.0.1:8000", "ftp://here", "http://", "http://here/?a=b", "http://[", "http://here:abc", "http://u:p@here"],
)
def test_what_is_no_address_is_told(byte_folder: Path, address: str) -> None:
    with pytest.raises(InputError, match="--endpoint"):
        endpoint_settings(load_card(str(byte_folder)), address)


def test_arguments_of_an_engine_have_no_place(byte_folder: Path) -> None:
    with pytest.raises(InputError, match="max_model_len"):
        endpoint_settings(load_card(str(byte_folder)), "http://127.0.0.1:9", {"max_model_len": "5"})


def test_another_name_at_the_server_is_another_model(byte_folder: Path, decoder: Any) -> None:
    identities = []
    for name in ("bytes", "llama", "llama-tuned"):
        with double(Old(decoder, models={"data": [{"id": name, "max_model_len": 512}]})) as address:
            identities.append(endpoint_settings(load_card(str(byte_folder)), address).identity)
    assert not any(same_model(one, other) for one, other in pairwise(identities))


def test_an_exact_server_that_reports_less_later_fails_the_request(byte_folder: Path, decoder: Any) -> None:
    server = Old(decoder)
    with double(server) as address:
        settings = endpoint_settings(load_card(str(byte_folder)), address)
        engine = EndpointEngine(settings.model_copy(update={"machine": {**settings.machine, "labels": endpoint.EXACT}}))
        with pytest.raises(RequestError, match="any more"):
            asyncio.run(engine.choose(CHAT, ["Yes", "No"], stage="x"))
        asyncio.run(engine.aclose())


def test_no_proxy_is_told_anything(byte_folder: Path, decoder: Any, monkeypatch: pytest.MonkeyPatch, impatient: None) -> None:
    proxy = Old(decoder)
    monkeypatch.setenv(TOKEN, "s3cret")
    with double(proxy) as address:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, address)
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        with pytest.raises(EngineError, match="does not answer"):
            endpoint_settings(load_card(str(byte_folder)), "http://127.0.0.1:9")
    assert proxy.seen == []


@pytest.mark.parametrize(("token", "sent"), [("s3cret\n", "Bearer s3cret"), ("  ", None)])
def test_white_space_around_a_token_is_none_of_it(
    byte_folder: Path, decoder: Any, monkeypatch: pytest.MonkeyPatch, token: str, sent: str | None
) -> None:
    monkeypatch.setenv(TOKEN, token)
    server = Old(decoder)
    with double(server) as address:
        endpoint_settings(load_card(str(byte_folder)), address)
    assert {one.get("authorization") for one in server.seen} == {sent}


@pytest.mark.parametrize("token", ["s3\ncret", "s3cr\u00e9t"])
def test_what_can_be_no_token_is_told_without_it(byte_folder: Path, monkeypatch: pytest.MonkeyPatch, token: str) -> None:
    monkeypatch.setenv(TOKEN, token)
    with pytest.raises(InputError, match="no key has") as told:
        endpoint_settings(load_card(str(byte_folder)), "http://127.0.0.1:9")
    assert "s3" not in str(told.value)


class Raw:
    """A server that writes to each request what `answer` yields, piece by piece."""

    def __init__(self, answer: Callable[[], Iterator[bytes]]) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                try:
                    for piece in answer():
                        self.wfile.write(piece)
                except OSError:  # the client has hung up, as it should
                    pass
                self.close_connection = True

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self.server.server_port}"


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"


def zipped() -> Iterator[bytes]:
    body = gzip.compress(b"[" + b" " * 2_000_000 + b"]")
    yield HEAD + b"content-encoding: gzip\r\ncontent-length: %d\r\n\r\n" % len(body) + body


def without_end() -> Iterator[bytes]:
    yield HEAD + b"\r\n"
    while True:
        yield b" " * 65_536


def dripping() -> Iterator[bytes]:
    yield HEAD + b"\r\n"
    while True:
        time.sleep(0.05)
        yield b" "


@pytest.mark.parametrize(
    ("answer", "said"),
    [(zipped, "compresses its answer"), (without_end, "longer than 100,000 bytes"), (dripping, "longer than 0.5 s")],
)
def test_an_answer_is_bounded_in_size_and_as_a_whole_in_time(
    byte_folder: Path, monkeypatch: pytest.MonkeyPatch, answer: Callable[[], Iterator[bytes]], said: str
) -> None:
    monkeypatch.setattr(server, "MOST_BYTES", 100_000)
    monkeypatch.setattr(server, "ANSWER_SECONDS", 0.5)
    raw = Raw(answer)
    with pytest.raises(RequestError, match=said):
        endpoint_settings(load_card(str(byte_folder)), raw.address)
    raw.server.shutdown()
    raw.server.server_close()


NESTED = "[" * 200_000 + "]" * 200_000


@pytest.mark.parametrize(
    "answer",
    [
        NESTED,
        completion({0: 0.5}),
        completion({0: math.inf}),
        completion({0: math.nan}),
        completion({0: -math.inf}),
        {"choices": [{**completion({})["choices"][0], "token_ids": [-1]}]},
        {"choices": [{**completion({})["choices"][0], "token_ids": list(range(9))}]},
        {**completion({}), "usage": {"prompt_tokens_details": {"cached_tokens": -3}}},
        {**completion({}), "usage": {"prompt_tokens_details": [1]}},
    ],
)
def test_an_answer_with_numbers_that_cannot_be_is_refused(byte_folder: Path, decoder: Any, answer: Any) -> None:
    with double(Old(decoder, (200, answer))) as address:
        engine = opened(byte_folder, address)
        with pytest.raises(RequestError):
            asyncio.run(engine.choose(CHAT, ["Yes", "No"], stage="x"))
        asyncio.run(engine.aclose())


@pytest.mark.parametrize("window", [-5, 0, 2**40, "512", True, None, 1.5])
def test_a_window_that_no_model_has_is_refused(byte_folder: Path, decoder: Any, window: Any) -> None:
    models = {"data": [{"id": "mine", "max_model_len": window}]}
    with double(Old(decoder, models=models)) as address, pytest.raises(EngineError, match="no vLLM server"):
        endpoint_settings(load_card(str(byte_folder)), address)


def test_a_token_that_the_server_echoes_is_in_no_message_and_in_no_settings(
    byte_folder: Path, decoder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TOKEN, "s3cret")
    with double(Old(decoder, (400, {"error": {"message": "you sent Bearer s3cret"}}))) as address:
        engine = opened(byte_folder, address)
        with pytest.raises(InputError, match=f"you sent Bearer \\[{TOKEN}\\]") as raised:
            asyncio.run(engine.choose(CHAT, ["Yes", "No"], stage="x"))
        assert "s3cret" not in str(raised.value)
        asyncio.run(engine.aclose())
    with double(Old(decoder, models={"data": [{"id": "s3cret", "max_model_len": 512}]})) as address:
        assert "s3cret" not in endpoint_settings(load_card(str(byte_folder)), address).model_dump_json()
