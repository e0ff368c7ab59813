"""Tells a reasoning model's thoughts from its answer, in answers to our prompts and in responses that are judged.

Thoughts stand between tags of several families, before a closing tag whose opening one was part of the prompt, or in channels
whose marks are special tokens, written out or left out of the text.
"""

import re
from typing import NamedTuple

from localfact.records import Span

# <think>, <seed:think>, [THINK], ◁think▷, <|begin_of_thought|>, &lt;think&gt;; a tag that is quoted is spoken of.
_TAG = re.compile(
    r"(?<!`)(?:(?P<closes></|&lt;/|◁/|<\|(?i:end)_(?:of_)?|\[/(?=THINK\]))|"
    r"(?<![\"'“‘\w])(?:<\|(?i:begin|start)_(?:of_)?|<|&lt;|◁|\[(?=THINK\])))"
    r"(?:\w{1,12}:)?(?i:(?:(?:inner|internal|chain|self|hidden)[_-]?(?:of[_-]?)?)?(?:think(?:ing)?|thoughts?|reasoning|reflection|monologue)|"
    r"scratchpad|deliberation)(?:\|>|&gt;|[>\]▷])(?!`)",
    re.DOTALL,
)
# What terminals, web pages and templates put around thoughts, whole. None looks at a place twice, however hostile the text.
_FRAMED = re.compile(
    r"\A\s*+Thinking\.\.\.[ \t]*\n.*?\n[ \t]*\.{3}done thinking\.?\s*|"
    r"<details type=[\"']reasoning[\"'][^<>]{0,200}>(?:(?!<details).)*?</details>|"
    r"<analysis>(?:(?!<analysis>).)*?</analysis>(?=\s*[^\s<]|\s*<(?:answer|final|output|response|result)\b)|"
    r"<unused94>\s*thought\b(?:(?!<unused94>).)*?<unused95>|"
    r"\A\W*+Here(?: is|['’]s) my (?:thought process|reasoning|thinking)\b.*?"
    r"\n[^\w\n]*+Here(?: is|['’]s) my (?:final )?(?:response|answer):?(?:\*\*)?",
    re.DOTALL,
)
# Only the channel "final" is the answer.
_CHANNEL = re.compile(
    r"(?:<\|start\|>\w{1,20})?<\|channel\|>(?P<name>\w{1,20})[^<]{0,80}(?:<\|constrain\|>\w{1,20})?<\|message\|>"
    r"|<\|(?:start\|>\w{1,20}|(?:end|return|call|message|im_end|eot_id|endoftext)\|>)"
)
_UNMARKED_CHANNEL = re.compile(r"\A\s*(?:analysis|commentary)(?=[A-Z]).*?(?:assistantfinal|\Z)", re.DOTALL)
_LETTER = re.compile(r"[^\W_]")


class Thoughts(NamedTuple):
    """Thoughts before an answer, "" for none; `end` is where the answer itself begins."""

    text: str
    end: int


def thoughts(answer: str) -> Thoughts:
    """The thoughts before an answer; all of an answer whose thoughts never end."""
    end = 0
    for span in find_thoughts(answer):
        if _LETTER.search(answer, end, span.start):
            break
        end = span.end
    return Thoughts(answer[:end].strip() if _LETTER.search(answer, 0, end) else "", end)


def find_thoughts(text: str) -> list[Span]:
    """The spans of thoughts and channel marks in a text, in order, without overlap."""
    unmarked = _UNMARKED_CHANNEL.match(text)
    found = [unmarked.span()] if unmarked else []
    found += [framed.span() for framed in _FRAMED.finditer(text)]
    found += _between_tags(text, unmarked.end() if unmarked else 0)
    channels = list(_CHANNEL.finditer(text))
    ends = [*(mark.start() for mark in channels[1:]), len(text)]
    for mark, end in zip(channels, ends, strict=bool(channels)):
        hidden = mark["name"] is not None and mark["name"] != "final"
        found.append((mark.start(), end if hidden else mark.end()))
    return _merge(found)


def without_thoughts(text: str) -> str:
    """The text without thoughts and marks of channels."""
    kept, begin = [], 0
    for span in find_thoughts(text):
        kept.append(text[begin : span.start])
        begin = span.end
    return "".join((*kept, text[begin:]))


def _between_tags(text: str, begin: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    opened: int | None = None
    for tag in _TAG.finditer(text, begin):
        if not tag["closes"]:
            opened = tag.start() if opened is None else opened
        else:
            # Without an opening tag, the prompt had it.
            found.append((begin if opened is None else opened, tag.end()))
            opened = None
    # One that is never closed begins a line; within a line it is spoken of.
    unclosed = opened is not None and not text[:opened].rpartition("\n")[2].strip()
    return [*found, (opened, len(text))] if opened is not None and unclosed else found


def _merge(spans: list[tuple[int, int]]) -> list[Span]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return [Span(start=start, end=end) for start, end in merged]
