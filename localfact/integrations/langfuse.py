"""Langfuse: scores of traces, as its API takes them (https://api.reference.langfuse.com), and the way there.

A response's id is its trace's. A score's id is made of the run's settings, the response and the name, so that sending again
replaces and doubles nothing.
"""

import base64
import ipaddress
import json
import uuid
from collections.abc import Iterator, Sequence
from datetime import UTC
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from localfact.errors import InputError, MissingError, SendError
from localfact.records import Assessment
from localfact.report.console import json_line
from localfact.report.trace_scores import Trace, TraceScore, run_name, trace_of, trace_scores
from localfact.runs.assessments import assessments_in_order
from localfact.runs.record import read_record
from localfact.runs.run_folder import settings_name
from localfact.runtime.keys import read_key
from localfact.runtime.tasks import complete
from localfact.web.searching.provider_chain import REAL_TIMING, Limit, RateLimiter, Timing
from localfact.web.searching.providers.json_answers import JsonClient
from localfact.web.searching.search import ProviderError

NAME = "langfuse"
PUBLIC_KEY, SECRET_KEY = "LANGFUSE_PUBLIC_KEY", "LANGFUSE_SECRET_KEY"
#: How many scores are sent at once, as its own clients do; characters of a comment, so that they stay far below its 3.5 MB.
BATCH, LONGEST_COMMENT = 100, 8_000
#: Statuses: of an answer, which says what became of each score; of a refusal that another try does not change.
TAKEN = (200, 207)
FORBIDDEN = dict.fromkeys((401, 403), f"check {PUBLIC_KEY} and {SECRET_KEY}, and that they are of a project there")


def langfuse_lines(run: Path) -> Iterator[str]:
    """A line a score: the body of POST /api/public/scores.

    Raises:
        MissingError: there is no such run. InputError: a file of it is damaged, or no response has an id of its own.
    """
    record = read_record(run)
    if not any(assessment.id_given for assessment in record.outlines):
        raise InputError(
            f"No response of {run} has an id that no other has, which Langfuse knows as its trace's: give each row of the data "
            "the trace's id as 'id', or TRACE:SPAN where rows share a trace, and evaluate them again."
        )
    scores, settings = trace_scores(record.outlines), settings_name(record.plain_settings)
    metadata = {"method": record.settings.method, "run": run_name(run)}
    for assessment in assessments_in_order(run):
        for score in scores(assessment) if assessment.id_given else ():
            yield json_line(_body(assessment, score, settings, metadata))


def count_left_out(run: Path) -> int:
    """How many responses of a run have no score among its lines: their file gave them no id, or gave it to others, too."""
    return sum(not assessment.id_given for assessment in read_record(run).outlines)


def _body(assessment: Assessment, score: TraceScore, settings: str, metadata: dict[str, str]) -> dict[str, Any]:
    trace = trace_of(assessment) or Trace(assessment.response_id)
    return {
        "id": str(uuid.uuid5(uuid.NAMESPACE_URL, f"localfact:{settings}:{assessment.response_id}:{score.name}")),
        "traceId": trace.id,
        **({"observationId": trace.span} if trace.span else {}),
        "name": score.name,
        "value": score.label if score.value is None else score.value,
        "dataType": "CATEGORICAL" if score.value is None else "NUMERIC",
        **({"comment": score.explanation[:LONGEST_COMMENT]} if score.explanation else {}),
        "metadata": metadata,
    }


def send_scores(lines: Sequence[str], address: str, timing: Timing = REAL_TIMING) -> int:
    """Sends lines of `langfuse_lines` to a server of Langfuse, BATCH at a time, and returns how many there were.

    Args:
        address: of its start page. The keys are read from the environment, and shown nowhere.
        timing: clocks and waiting between tries, which tests replace.

    Raises:
        MissingError: a key is not set. InputError: the address is no web address, or keys would go there unencrypted.
        SendError: the server did not take a batch, or not all of it; those before are there.
    """
    return complete(_send(lines, _check_address(address), (_key(PUBLIC_KEY), _key(SECRET_KEY)), timing))


async def _send(lines: Sequence[str], address: str, keys: tuple[str, str], timing: Timing) -> int:
    basic = base64.b64encode(":".join(keys).encode()).decode()
    client = JsonClient(NAME, headers={"authorization": f"Basic {basic}"}, secret=keys[1])
    limiter = RateLimiter(NAME, Limit(at_once=1), timing)
    ask = partial(client.ask, "POST", f"{address}/api/public/ingestion", accepted=TAKEN, forbidden=FORBIDDEN)
    sent = 0
    try:
        for start in range(0, len(lines), BATCH):
            batch = {"batch": [_event(line, timing) for line in lines[start : start + BATCH]]}
            answer = await limiter.request(partial(ask, body=batch, now=timing.now()))
            if refused := answer.value.get("errors"):
                raise _refusal(refused, sent + len(answer.value.get("successes") or ()), len(lines))
            sent += len(batch["batch"])
    except ProviderError as error:
        raise SendError(f"{error}. {_told(sent, len(lines))}") from None
    finally:
        await client.aclose()
    return sent


def _event(line: str, timing: Timing) -> dict[str, Any]:
    """A score in the envelope of the ingestion API, whose own id is another each time."""
    now = timing.now().astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {"id": str(uuid.uuid4()), "timestamp": now, "type": "score-create", "body": json.loads(line)}


def _refusal(errors: Any, sent: int, total: int) -> SendError:
    first = errors[0] if isinstance(errors, list) and isinstance(errors[0], dict) else {}
    said = str(first.get("message") or first.get("error") or "no reason was given")[:200]
    return SendError(f"{NAME} took not all of a batch: {said}. {_told(sent, total)}")


def _told(sent: int, total: int) -> str:
    return f"{sent:,} of {total:,} scores are there; the same command sends all of them again, and doubles none."


def _check_address(address: str) -> str:
    """The address without a slash at its end; raises InputError where no key should go there."""
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        host, parts = "", urlsplit("")
    if parts.scheme not in ("http", "https") or not host or "@" in parts.netloc or parts.query or parts.fragment:
        raise InputError(f"--send {address} is no address of a server. Type one such as https://cloud.langfuse.com.")
    if parts.scheme == "http" and not _stays_here(host):
        raise InputError(f"--send {address} would carry the keys unencrypted: type an address that begins with https.")
    return address.rstrip("/")


def _stays_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _key(variable: str) -> str:
    key = read_key(variable)
    if not key:
        raise MissingError(f"Langfuse wants the keys of a project, and {variable} is not set: export {variable}=...")
    return key
