"""Pages are complete in themselves, and what somebody else wrote is text in them."""

import base64
import hashlib
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_runs import HOSTILE, read, small_assessment

from localfact.report.page.rendering import embed, is_web_address, place_shown, show
from localfact.report.page.run_page import run_page

TEXTS = st.text(st.characters(), max_size=40) | st.sampled_from(HOSTILE[:3])


@given(TEXTS)
def test_data_read_back_are_what_was_shown_and_cannot_end_their_block(text: str) -> None:
    block = embed({"text": show(text)})
    assert json.loads(block) == {"text": show(text)}
    assert not set("<>&") & set(block)


@given(TEXTS.flatmap(lambda text: st.tuples(st.just(text), st.integers(0, len(text)))))
def test_a_place_is_counted_as_a_script_counts(text_and_offset: tuple[str, int]) -> None:
    text, offset = text_and_offset
    units = show(text).encode("utf-16-le")
    assert units[: 2 * place_shown(text, offset)].decode("utf-16-le") == show(text[:offset])


@pytest.mark.parametrize("link", ["https://example.org/a?b=c#d", "http://xn--bcher-kva.example/"])
def test_web_addresses_can_be_followed(link: str) -> None:
    assert is_web_address(link)


@pytest.mark.parametrize(
    "link",
    [
        "javascript:alert(1)",
        "JAVASCRIPT:alert(1)",
        "java\nscript:alert(1)",
        "\x01javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "//host",
        "example.org",
        "http://",
        "http://[::1",
        "https://example.org/\u202e",
        "https://example.org/ a",
    ],
)
def test_nothing_else_can_be_followed(link: str) -> None:
    assert not is_web_address(link)


def test_the_policy_of_a_page_admits_its_own_script_and_style_alone() -> None:
    page = run_page(read([small_assessment()]))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    style, script = (re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL) for tag in ("style", "script"))
    assert len(style) == len(script) == 1
    said = policy[1].replace("&#39;", "'")
    for kind, (content,) in (("style", style), ("script", script)):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in said
    assert said.startswith("default-src 'none'; ")
    assert "unsafe" not in said
