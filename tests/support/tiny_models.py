"""Makes tiny Llamas and BERTs with random weights, and their tokenizers, so that tests run real engines in seconds.

What such a model says means nothing; that it says it with the right probabilities and at the right places is what tests read.
"""

import json
from pathlib import Path
from typing import Any, Literal

from localfact.llm.engine import EngineIdentity
from localfact.llm.placing.settings import EngineSettings
from localfact.llm.tokens.chat import template_hash

Kind = Literal["bytes", "pieces"]

#: Roles stand between marks of their own, as in the templates of current models; the answer begins on a new line.
CHAT_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}<|{{ message['role'] }}|>\n{{ message['content'] }}{{ eos_token }}\n"
    "{% endfor %}{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)
#: A letter of the N'Ko script, whose first byte no other script has.
POISON = "\u07ff"
MARKS = ("<|system|>", "<|user|>", "<|assistant|>")
#: What the tokenizers learn from: words of the labels and formats, and letters that become one token, or stay split.
SENTENCES = (
    "The claim is supported by the passage. The claim is contradicted by the passage. The passage is neutral.",
    "Supported, Non-supported, Irrelevant, Likely supported, Likely non-supported, Unsure: one label a claim.",
    "entailment contradiction neutral entailment contradiction neutral not enough evidence",
    "The café in Málaga was opened in 1987, and the naïve señor from Zürich paid for it. The café, the café.",
    "### Verdict: supported. ### Verdict: refuted. ### 1. The tower is 324 metres high. ### 2. It stands in Paris.",
    "Über die Brücke fährt ein Zug; çok güzel; größer, schöner, über über über.",
    "Rivers run to the sea, mountains stand, and the answer to the question is true or false, yes or no.",
    "Weather report: 🌦 in the morning, 🌞 later. Москва стоит. 東京は大きい。",
)


def byte_tokenizer() -> Any:
    """Byte-level BPE, as Llama 3 and Qwen have: any byte is a token, rare letters are several."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=512,
        special_tokens=["<unk>", "<s>", "</s>", *MARKS],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(SENTENCES, trainer)
    return tokenizer


def piece_tokenizer() -> Any:
    """Pieces that carry the space before them, as Llama 2 and Mistral have: unknown letters fall back to bytes."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

    learner = Tokenizer(models.BPE(unk_token="<unk>"))
    learner.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=True)
    trainer = trainers.BpeTrainer(vocab_size=220, special_tokens=["<unk>"], show_progress=False)
    # Letters outside Latin-1 stay out of the vocabulary: they fall back to bytes.
    learner.train_from_iterator(["".join(sign for sign in text if sign < "\u0100") for text in SENTENCES], trainer)
    learned = json.loads(learner.to_str())["model"]
    pieces = sorted((piece for piece in learned["vocab"] if piece != "<unk>"), key=learned["vocab"].__getitem__)
    names = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *pieces]
    tokenizer = Tokenizer(
        models.BPE(
            vocab={name: number for number, name in enumerate(names)},
            merges=[tuple(pair) for pair in learned["merges"]],
            unk_token="<unk>",
            byte_fallback=True,
        )
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    tokenizer.add_special_tokens(
        [AddedToken(mark, special=True, normalized=False) for mark in ("<unk>", "<s>", "</s>", *MARKS)]
    )
    return tokenizer


def save_tokenizer(folder: Path, kind: Kind, *, template: bool = True) -> Any:
    """Writes a tokenizer, with a chat template or without, and returns it as transformers reads it."""
    from tokenizers import processors
    from transformers import PreTrainedTokenizerFast

    made = byte_tokenizer() if kind == "bytes" else piece_tokenizer()
    start = made.token_to_id("<s>")
    made.post_processor = processors.TemplateProcessing(single="<s> $A", pair="<s> $A $B", special_tokens=[("<s>", start)])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=made, bos_token="<s>", eos_token="</s>", unk_token="<unk>")
    if template:
        tokenizer.chat_template = CHAT_TEMPLATE
    tokenizer.save_pretrained(folder)
    return tokenizer


def tiny_llama(
    folder: Path,
    tokenizer: Kind = "bytes",
    *,
    window: int = 2048,
    dtype: str = "float32",
    template: bool = True,
    hidden: int = 64,
    layers: int = 2,
    seed: int = 0,
) -> Path:
    """Writes a Llama of a few ten thousand random weights, always the same, with its tokenizer; returns the folder.

    Args:
        folder: where to; made if need be.
        tokenizer: "bytes" for byte-level BPE, "pieces" for pieces with leading spaces and byte fallback.
        window: of positions.
        dtype: the weights are kept in.
        template: False for a base model, whose tokenizer has no chat template.
        hidden: width, a multiple of 64.
        layers: how many.
        seed: of the weights.
    """
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    made = save_tokenizer(folder, tokenizer, template=template)
    config = LlamaConfig(
        vocab_size=len(made),
        hidden_size=hidden,
        intermediate_size=2 * hidden,
        num_hidden_layers=layers,
        num_attention_heads=hidden // 32,
        num_key_value_heads=hidden // 32,
        max_position_embeddings=window,
        bos_token_id=made.bos_token_id,
        eos_token_id=made.eos_token_id,
        pad_token_id=None,
        tie_word_embeddings=False,
        initializer_range=0.3,  # large enough that some tokens are far more probable than others
        dtype=dtype,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = LlamaForCausalLM(config).to(getattr(torch, dtype))
    model.save_pretrained(folder)
    return folder


def poisoned(folder: Path) -> Path:
    """Makes the weights for POISON's first byte no numbers, as overflow in 16 bits leaves them; returns the folder.

    As the model's answers are never that byte, its other answers are numbers.
    """
    import torch
    from safetensors.torch import load_file, save_file
    from transformers import AutoTokenizer

    number = AutoTokenizer.from_pretrained(folder)(POISON, add_special_tokens=False)["input_ids"][-2]
    weights = load_file(folder / "model.safetensors")
    weights["model.embed_tokens.weight"][number] = torch.nan
    weights["lm_head.weight"][number] = 0
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    return folder


def settings_of(folder: Path, **arguments: Any) -> EngineSettings:
    """What an engine over such a folder starts from; `arguments` are AsyncEngineArgs'. Nothing is compiled, to start fast."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    window = arguments.get("max_model_len", config["max_position_embeddings"])
    identity = EngineIdentity(
        model=folder.name, revision="made here", dtype=config["dtype"], template=template_hash(folder), window=window
    )
    given = {"dtype": config["dtype"], "enforce_eager": True, "kv_cache_memory_bytes": 64 * 2**20, **arguments}
    return EngineSettings(folder=folder, identity=identity, arguments=given)
