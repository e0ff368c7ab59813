import asyncio
import ssl
from pathlib import Path

import pytest

from localfact.web.fetching.failures import Reason
from localfact.web.fetching.fetch import Fetcher
from localfact.web.fetching.fetched import Fetched, FetchError

pytestmark = pytest.mark.slow


@pytest.fixture
def trusted(tmp_path: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    pytest.importorskip("cryptography")
    from loopback_http2 import certificates

    return certificates(tmp_path)


async def over_http2(
    trusted: tuple[ssl.SSLContext, ssl.SSLContext], name: str, paths: list[str]
) -> tuple[list[object], list[object]]:
    from loopback_http2 import Http2Pages

    async def resolve(host: str, port: int) -> list[str]:
        return ["127.0.0.2"]

    pages = Http2Pages(trusted[0])
    server = await pages.listen("127.0.0.2")
    fetcher = Fetcher(host_delay=0, allow_hosts=["127.0.0.2"], resolve=resolve, certificates=trusted[1], read_seconds=3)
    got = [
        (await asyncio.gather(fetcher.fetch(f"https://{name}:{pages.port}{path}"), return_exceptions=True))[0] for path in paths
    ]
    await fetcher.aclose()
    server.close()
    return got, [*pages.asked]


async def test_a_page_comes_over_http2_in_one_connection_with_its_robots_txt(
    trusted: tuple[ssl.SSLContext, ssl.SSLContext],
) -> None:
    from loopback_http2 import PAGE

    got, asked = await over_http2(trusted, "pages.example", ["/one", "/two"])
    assert [page.body for page in got if isinstance(page, Fetched)] == [PAGE, PAGE]
    assert [exchange.protocol for exchange in got[0].exchanges] == ["HTTP/2", "HTTP/2"]
    assert [path for _, _, path in asked] == ["/robots.txt", "/one", "/two"]
    assert {authority.partition(":")[0] for _, authority, _ in asked} == {"pages.example"}
    assert len({connection for connection, _, _ in asked}) == 1


@pytest.mark.parametrize(("path", "reason"), [("/never-ending", Reason.TOO_LARGE), ("/refused", Reason.HTTP_STATUS)])
async def test_a_body_without_end_over_http2_spoils_its_connection_but_not_the_next_page(
    trusted: tuple[ssl.SSLContext, ssl.SSLContext], path: str, reason: Reason
) -> None:
    got, asked = await over_http2(trusted, "pages.example", [path, path, path, "/after"])
    assert [error.failure.reason for error in got[:3]] == [reason] * 3
    assert isinstance(got[3], Fetched)
    assert len({connection for connection, _, _ in asked}) == 4


async def test_a_certificate_for_another_name_is_a_failed_connection(trusted: tuple[ssl.SSLContext, ssl.SSLContext]) -> None:
    got, asked = await over_http2(trusted, "other.example", ["/one"])
    assert isinstance(got[0], FetchError)
    assert got[0].failure.reason is Reason.CONNECTION_FAILED
    assert "certificate" in got[0].failure.detail.lower()
    assert asked == []
