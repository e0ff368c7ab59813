"""Makes a tiny ALBERT with random weights that tells three relations apart, and its tokenizer, so that tests run a real one."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from localfact.records import Pair

#: What the tokenizer learns its pieces from; letters that are not here are unknown to it.
SENTENCES = (
    "Granite was cut in the quarries of the island and shipped to the town.",
    "The lighthouse of Inverbeg was built in 1862 and stands 35 metres tall.",
    "Mirela Vantos, a painter, was born in Split in 1902; she died in Zagreb.",
    "The claim is supported by the passage, or refuted, or neither is known.",
)
#: As the configuration of VitaminC's ALBERT names its outputs.
LABELS = ("SUPPORTS", "REFUTES", "NOT ENOUGH INFO")
WINDOW = 64


def piece_tokenizer(window: int) -> Any:
    """Pieces that carry the space before them, a pair as [CLS] premise [SEP] hypothesis [SEP], as ALBERT has."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.BPE(unk_token="<unk>"))
    made.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.decoder = decoders.Metaspace()
    special = ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"]
    trainer = trainers.BpeTrainer(vocab_size=120, special_tokens=special, show_progress=False)
    made.train_from_iterator(SENTENCES, trainer)
    ends = [(mark, made.token_to_id(mark)) for mark in ("[CLS]", "[SEP]")]
    made.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0", pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1", special_tokens=ends
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        model_max_length=window,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
        pad_token="<pad>",
        unk_token="<unk>",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    )


def tiny_albert(
    folder: Path, *, labels: Sequence[str] = LABELS, window: int = WINDOW, head: bool = True, seed: int = 2
) -> Path:
    """Writes an ALBERT of a few thousand random weights, the same for the same seed, with its tokenizer; returns the folder.

    Args:
        folder: where to; made if need be.
        labels: the names of its outputs, in order.
        window: of positions.
        head: False for a model that was never taught to classify.
        seed: of the weights; with 2 random pairs of words come out as each of the three, and rather decidedly.
    """
    import torch
    from transformers import AlbertConfig, AlbertForSequenceClassification, AlbertModel

    tokenizer = piece_tokenizer(window)
    tokenizer.save_pretrained(folder)
    config = AlbertConfig(
        vocab_size=len(tokenizer),
        embedding_size=16,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=window,
        pad_token_id=tokenizer.pad_token_id,
        initializer_range=0.6,  # large enough that pairs differ in what they are predicted to be
        id2label=dict(enumerate(labels)),
        label2id={label: index for index, label in enumerate(labels)},
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = AlbertForSequenceClassification(config) if head else AlbertModel(config)
    model.save_pretrained(folder)
    return folder


def pairs_of(number: int, premise: int, hypothesis: int) -> list[Pair]:
    """So many pairs of words that the tokenizer knows, with at most so many words in each text; for a number the same ones."""
    chance = random.Random(number)
    words = " ".join(SENTENCES).split()

    def text(longest: int) -> str:
        return " ".join(chance.choices(words, k=chance.randint(0, longest)))

    return [Pair(text(premise), text(hypothesis)) for _ in range(number)]
