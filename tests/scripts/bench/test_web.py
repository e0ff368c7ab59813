"""What `make bench` says of the web counts pages that were really had: one that is missing ends the measurement."""

import asyncio
from pathlib import Path

import pytest

from localfact.web.fetching.fetched import FetchError
from scripts.bench.loopback import articles, serving
from scripts.bench.web import collect_all, fetch_all


@pytest.mark.slow
def test_a_page_that_is_missing_ends_the_measurement_instead_of_making_it_faster(tmp_path: Path) -> None:
    with serving(articles(4), 3, 0.001) as links:
        assert len(set(links)) == len(links)
        asyncio.run(collect_all(links, tmp_path / "whole"))
        missing = [*links[:2], f"{links[0].rpartition('/')[0]}/missing"]
        with pytest.raises(FetchError):
            asyncio.run(fetch_all(missing, robots=False))
        with pytest.raises(RuntimeError, match="pages were to be collected"):
            asyncio.run(collect_all(missing, tmp_path / "less"))
