"""The text writer over a tiny Llama of random weights, and adapters that fit it or do not."""

import json
from pathlib import Path
from typing import Any

import pytest
from tiny_models import tiny_llama

from localfact.errors import InputError, MissingError
from localfact.models.adapters import ADAPTER_FILE, DOWN, UP, add_adapter
from localfact.models.cards import load_card
from localfact.models.model_card import ModelCard
from localfact.models.text_writer import MOST_WRITTEN, TextWriter, writer_identity

NAME = "model.layers.0.mlp.down_proj"


def adapter(folder: Path, rows: int = 64, columns: int = 128, name: str = NAME, scale: float = 0.5) -> Path:
    import torch
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    made = torch.Generator().manual_seed(3)
    parts = {
        name + DOWN: torch.randn(2, columns, generator=made).to(torch.bfloat16),
        name + UP: (scale * torch.randn(rows, 2, generator=made)).to(torch.bfloat16),
    }
    save_file(parts, folder / ADAPTER_FILE)
    return folder


def card(tmp_path: Path, base: Path, folder: Path) -> ModelCard:
    file = tmp_path / "mine.yaml"
    fields: dict[str, Any] = {
        "name": "mine",
        "roles": ["claims"],
        "folder": str(folder),
        "base": str(base),
        "revision": "sha256:1",
    }
    file.write_text(json.dumps(fields), encoding="utf-8")
    return load_card(str(file))


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_llama(tmp_path_factory.mktemp("base"))


def test_an_adapter_adds_its_product_to_the_weights_that_it_names(tmp_path: Path, base: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM

    model, other = (AutoModelForCausalLM.from_pretrained(base) for _ in range(2))
    add_adapter(model, adapter(tmp_path / "adapter"))
    for name, weight in model.state_dict().items():
        assert torch.equal(weight, other.state_dict()[name]) == (name != f"{NAME}.weight"), name


@pytest.mark.parametrize(
    "wrong", [{"rows": 63}, {"columns": 5}, {"name": "model.layers.9.mlp.down_proj"}, {"name": "model.layers"}]
)
def test_another_models_adapter_is_refused(tmp_path: Path, base: Path, wrong: dict[str, Any]) -> None:
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(base)
    with pytest.raises(InputError, match="does not fit"):
        add_adapter(model, adapter(tmp_path / "adapter", **wrong))


def test_matrices_that_do_not_fit_one_another_are_refused(tmp_path: Path, base: Path) -> None:
    import torch
    from safetensors.torch import save_file
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(base)
    for up in (torch.zeros(64, 3), torch.zeros(64)):
        save_file({NAME + DOWN: torch.zeros(2, 128), NAME + UP: up}, tmp_path / ADAPTER_FILE)
        with pytest.raises(InputError, match="does not fit"):
            add_adapter(model, tmp_path)


def test_a_missing_or_damaged_adapter_is_a_sentence(tmp_path: Path, base: Path) -> None:
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(base)
    with pytest.raises(InputError, match="cannot be read"):
        add_adapter(model, tmp_path)
    (tmp_path / ADAPTER_FILE).write_bytes(b"\xff" * 40)
    with pytest.raises(InputError, match="cannot be read"):
        add_adapter(model, tmp_path)


@pytest.mark.slow
def test_what_is_written_hangs_on_its_text_alone(tmp_path: Path, base: Path) -> None:
    writer = TextWriter(card(tmp_path, base, adapter(tmp_path / "adapter")))
    prompts = ["Topic: A\nBefore: \nSentence: B.\nClaims:\n", "x" * 300, "short", "Topic: A </s> B\n"]
    together = writer.write(prompts)
    assert together == [writer.write([prompt])[0] for prompt in reversed(prompts)][::-1]
    assert any(together)
    assert all(len(each.encode()) <= 4 * MOST_WRITTEN for each in together)
    assert writer.write([]) == []
    writer.close()


@pytest.mark.slow
def test_it_ends_where_it_is_told_to(tmp_path: Path, base: Path) -> None:
    writer = TextWriter(card(tmp_path, base, adapter(tmp_path / "adapter")))
    (whole,) = writer.write(["x" * 300])
    (cut,) = writer.write(["x" * 300], lambda written: len(written) >= len(whole) // 2)
    assert 0 < len(cut) < len(whole)
    assert whole.startswith(cut)


@pytest.mark.slow
def test_the_adapter_decides_what_is_written(tmp_path: Path, base: Path) -> None:
    written = [
        TextWriter(card(tmp_path, base, adapter(tmp_path / str(scale), scale=scale))).write(["Sentence: B."])[0]
        for scale in (0.0, 3.0)
    ]
    assert written[0] != written[1]


def test_a_card_without_a_base_or_whose_base_is_missing_is_refused(tmp_path: Path, base: Path) -> None:
    whole = card(tmp_path, base, tmp_path)
    assert writer_identity(whole).startswith("mine@1+")
    with pytest.raises(InputError, match="names no base"):
        writer_identity(whole.model_copy(update={"base": None}))
    with pytest.raises(MissingError):
        writer_identity(whole.model_copy(update={"base": str(tmp_path / "a" / "b" / "nowhere")}))
