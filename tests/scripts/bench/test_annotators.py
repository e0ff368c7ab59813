"""Ten annotators at once, for seconds instead of a minute: what the server said was saved is in the export."""

from pathlib import Path

import pytest

from scripts.bench.annotators import ANNOTATORS, annotate, missing


@pytest.mark.slow
def test_every_judgement_of_ten_people_is_in_the_export(tmp_path: Path) -> None:
    judged = annotate(tmp_path / "project", 3.0)
    assert len(judged) == ANNOTATORS
    assert all(one.labels for one in judged)
    assert missing(tmp_path / "project", judged) == 0
    key = next(iter(judged[0].labels))
    judged[0].labels[key] = "lost"
    assert missing(tmp_path / "project", judged) == 1
