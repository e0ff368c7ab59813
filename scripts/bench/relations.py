"""A relation model of the size of the one that ships: in int8 by ONNX Runtime, as it ships, beside torch in float32.

The weights are the encoder's with an untaught head: what they say means nothing, and takes as long.
"""

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from localfact.models.cards import load_card, weights_folder
from localfact.models.cross_encoder import CrossEncoder
from localfact.models.model_card import ModelCard
from scripts.bench import measure, synthetic

#: Pairs at --size 1, and how many words their premises have: 40 to 160 tokens with the claim.
PAIRS = 200
PREMISE_WORDS = (20, 100)
CLAIM_WORDS = 10


def cross_encoders(size: float) -> tuple[str, str, dict[str, measure.Path]]:
    """Title, yardstick and paths: the same pairs, each alone, as many at once as there are cores."""
    count = max(8, int(PAIRS * size))
    with TemporaryDirectory() as folder:
        plain, quantised = write_models(Path(folder))
        pairs = drawn_pairs(count)
        paths = {
            "torch, float32": measure.Path(reading(plain, pairs), count),
            "ONNX Runtime, int8": measure.Path(reading(quantised, pairs), count),
        }
    return f"pairs read by a cross-encoder ({count} pairs)", "torch, float32", paths


def write_models(folder: Path) -> tuple[CrossEncoder, CrossEncoder]:
    """The encoder of the embedder that ships, with three outputs: for torch, and exported as the relation model is."""
    import torch
    from transformers import AutoModelForSequenceClassification
    from transformers.utils.logging import disable_progress_bar

    from scripts.onnx_export import export

    disable_progress_bar()  # type: ignore[no-untyped-call]
    encoder = weights_folder(load_card("minilm"))
    torch.manual_seed(0)
    network = AutoModelForSequenceClassification.from_pretrained(encoder, num_labels=3, local_files_only=True)
    plain, quantised = folder / "plain", folder / "quantised"
    network.save_pretrained(plain)
    export(network, encoder, quantised)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (plain / name).write_bytes((quantised / name).read_bytes())
    return CrossEncoder(card_of(plain), "relations", device="cpu"), CrossEncoder(card_of(quantised), "relations")


def card_of(folder: Path) -> ModelCard:
    return ModelCard(name=folder.name, revision="untaught", roles=("relations",), folder=folder)


def drawn_pairs(count: int) -> list[tuple[str, str]]:
    """Premises of mixed length, each with a claim."""
    chosen = random.Random(8)
    premises = [synthetic.texts(1, chosen.randint(*PREMISE_WORDS), seed=100 + number)[0] for number in range(count)]
    return list(zip(premises, synthetic.texts(count, CLAIM_WORDS, seed=9), strict=True))


def reading(encoder: CrossEncoder, pairs: Sequence[tuple[str, str]]) -> Callable[[], list[list[list[float]]]]:
    """What reads all pairs, on all workers."""
    tokens = [[encoder.tokens(*pair, cut="only_first")] for pair in pairs]
    return lambda: list(encoder.workers.map(encoder.outputs, tokens))
