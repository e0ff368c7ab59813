"""No claim has a content word that its sentence, context and topic lack: over texts of many kinds, and over public ones."""

import gzip
import json
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localfact.claims.rules.extractor import RuleExtractor
from localfact.records import Claim, Response

#: How far before a claim its context begins; headings count from anywhere above.
CONTEXT = 1_000
#: Where the topic is found that no input names.
OPENING = 500
#: Shorter words hold claims together; these the rules add: "(born 1950)" says that somebody was born.
SHORTEST = 4
ADDED = {"became", "began", "born", "died", "were", "went"}
#: Letters that two forms of a word share.
STEM = 4

TEXTS = {
    "Ada Morel": """# Ada Morel

**Ada Morel** (born 4 May 1950), a French chemist and poet, won the Osmium Prize, the Bell Medal, and the Ray Cup [1].
Born in Lyon, she studied in Paris, married Bo Fox, a painter, and moved to Rome, becoming the first woman at the Fox Works.
She wrote "Red Sky," "The Boat," and "Ash." It was printed by Bea Ray, who lived in Bonn; her sister sold it.

## Life
- **Born:** 4 May 1950
- 1990: Awarded the Osmium Prize
- 1995: a long illness
- Career: She taught in Bonn (1990-1995).
- Opened a school and later a museum

| Year | Event |
|---|---|
| 1999 | Retired |
| 2001 | Peace |

References
[1] B. Ray, The chemists. Lyon: Bell Press, 1998.
""",
    "Morel Tower": """The Morel Tower is a tower in Lyon that was built in 1889 and opened in 1890. It has a bell.
It was cast by Bo Fox.

<ul><li>Height: 330 m</li><li>Architect - Bo Fox</li></ul>

City | Towers | In 2010
--- | --- | ---
Lyon | 3 | 4

**Bell Tower**: Opened in 1900. **History** The tower burnt twice, in 1901 and 1950, while its bell was saved.
""",
}


@pytest.mark.parametrize("topic", TEXTS)
async def test_every_content_word_of_a_claim_stands_in_its_text(topic: str) -> None:
    response = Response(id="r", text=TEXTS[topic], topic=topic)
    claims = (await RuleExtractor().extract(response)).claims
    assert len(claims) > 7
    assert [(claim.text, new) for claim in claims if (new := new_words(claim, response))] == []


PARTS = [line for text in TEXTS.values() for line in re.split(r"(?<=[.;\n]) ?", text) if line.strip()]


@given(st.lists(st.sampled_from(PARTS), max_size=12), st.sampled_from([None, *TEXTS]))
async def test_however_sentences_and_lines_are_put_together(parts: list[str], topic: str | None) -> None:
    response = Response(id="r", text=" ".join(parts), topic=topic)
    claims = (await RuleExtractor().extract(response)).claims
    assert [(claim.text, new) for claim in claims if (new := new_words(claim, response))] == []


@pytest.mark.slow
async def test_every_content_word_of_the_claims_of_public_texts_stands_in_them(shared: Path) -> None:
    violations, claims = [], 0
    for response in public_responses(shared / "data"):
        for claim in (await RuleExtractor().extract(response)).claims:
            claims += 1
            if new := new_words(claim, response):
                violations.append((claim.text, new))
    assert claims > 1_000
    assert violations == []


def new_words(claim: Claim, response: Response) -> set[str]:
    """The content words of a claim that its text lacks."""
    start, end = min(span.start for span in claim.spans), max(span.end for span in claim.spans)
    first = max(0, start - CONTEXT)
    above = re.findall(r"(?m)^\W*(?:#|\*\*|\|).*$", response.text[:first])
    source = "\n".join(
        (response.topic or "", response.prompt or "", response.text[:OPENING], *above, response.text[first : end + CONTEXT])
    )
    known = {word[:STEM] for word in content_words(re.sub(r"\\n(?![a-z])", " ", source))}
    return {
        word for word in content_words(claim.text) if len(word) >= SHORTEST and word not in ADDED and word[:STEM] not in known
    }


def content_words(text: str) -> list[str]:
    folded = unicodedata.normalize("NFKD", text.casefold())
    return re.findall(r"[^\W_]+", "".join(letter for letter in folded if not unicodedata.combining(letter)))


def public_responses(data: Path) -> Iterator[Response]:
    """One in ten of the long answers of public sets."""
    for name, key in (
        ("factscore_bios/ChatGPT.jsonl", "output"),
        ("factscore_bios/PerplexityAI.jsonl", "output"),
        ("fastfact_bench/fastfact-bench_for_eval.jsonl", "response"),
        ("factcheck_gpt/Factbench_responses.jsonl.gz", "response"),
        ("felm/felm_all.jsonl", "response"),
    ):
        content = (data / name).read_bytes()
        lines = (gzip.decompress(content) if name.endswith(".gz") else content).decode().split("\n")
        for row in (json.loads(line) for line in lines[::10] if line):
            yield Response(id="r", text=text_of(row[key]), topic=row.get("topic"), prompt=row.get("input") or row.get("prompt"))


def text_of(value: Any) -> str:
    return value if isinstance(value, str) else ""
