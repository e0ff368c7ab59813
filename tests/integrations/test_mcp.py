"""`localfact mcp` as its clients have it: the SDK's own client, and the server in a process of its own."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from docs_lines import run_lines
from service import PATIENCE, QUICK

from localfact.api.report import SHIPPED_LIMITS
from localfact.report.explanations import NO_PROOF

if TYPE_CHECKING:
    from mcp.client.client import Client

pytestmark = pytest.mark.slow

WORDS = ["-m", "localfact", "mcp", *QUICK]


@asynccontextmanager
async def connected() -> AsyncIterator["Client"]:
    from mcp import StdioServerParameters
    from mcp.client.client import Client

    async with Client(StdioServerParameters(command=sys.executable, args=WORDS), read_timeout_seconds=PATIENCE) as client:
        yield client


async def told(client: "Client", tool: str, **arguments: Any) -> dict[str, Any]:
    """What a tool says; the text for old clients says the same."""
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    assert json.loads(answer.content[0].text) == answer.structured_content
    assert answer.structured_content["judged_by"]["method"] == "builtin-fr2"
    assert answer.structured_content["judged_by"]["limits"] == f"{NO_PROOF} {SHIPPED_LIMITS}"
    return dict(answer.structured_content)


async def test_an_assistant_checks_a_text_has_a_claim_explained_and_searches() -> None:
    async with connected() as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {"check_text", "explain_claim", "search_corpus"}
        assert all(tool.annotations is not None and tool.annotations.read_only_hint for tool in tools.values())

        checked = await told(client, "check_text", text="She was born in Warsaw.", topic="Marie Curie")
        assert [(claim["text"], claim["verdict"]) for claim in checked["claims"]] == [
            ("Marie Curie was born in Warsaw.", "supported")
        ]
        assert "Warsaw" in checked["claims"][0]["sentence"]

        explained = await told(
            client, "explain_claim", claim="The mill at Orbe burned down.", passages=["The mill at Orbe never burned down."]
        )
        assert explained["claim"] == "The mill at Orbe burned down."
        assert [passage["text"] for passage in explained["passages"]] == ["The mill at Orbe never burned down."]
        assert explained["how"].startswith("Each claim is read beside passages")

        found = await told(client, "search_corpus", query="Marie Curie was born in Warsaw.")
        assert [passage["rank"] for passage in found["passages"]] == list(range(1, 1 + len(found["passages"])))
        assert (found["passages"][0]["title"], "Warsaw" in found["passages"][0]["sentence"]) == ("Marie Curie", True)

        refused = await client.call_tool("check_text", {"text": "word " * 20_001})
        assert (refused.is_error, "The text has 20,001 words" in refused.content[0].text) == (True, True)
        assert (await client.call_tool("search_corpus", {"query": " "})).is_error


def test_standard_output_has_the_protocol_alone_and_hanging_up_ends_the_server() -> None:
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
    }
    done = subprocess.run(
        [sys.executable, *WORDS],
        input=f"{json.dumps(hello)}\nthis is no message\n",
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert {line["jsonrpc"] for line in lines} == {"2.0"}
    (answer,) = [line for line in lines if line.get("id") == 1]
    assert answer["result"]["serverInfo"]["name"] == "localfact"
    assert NO_PROOF in answer["result"]["instructions"]
    assert "Traceback" not in done.stderr


def test_the_lines_of_the_documentation_do_what_they_say(capfd: pytest.CaptureFixture[str]) -> None:
    run_lines("An MCP server", {'"localfact"': repr(sys.executable), '["mcp", "--corpus", "index/mine"]': repr(WORDS)})
    said = capfd.readouterr().out
    assert "supported Marie Curie was born in Warsaw. https://" in said
    assert NO_PROOF in said
