"""A small Llama with random weights and a tokenizer of its own, so that vLLM runs here with nothing downloaded.

For speed alone: the tokenizer gives texts of the bench about as many tokens as real ones have, and a greedy answer never ends.
(The tests' models are made for exact probabilities instead, and live with the tests.)
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

VOCABULARY = 4096
HIDDEN, LAYERS, HEADS = 128, 2, 4
#: What one token takes in the cache: keys and values of every layer, in 32 bits.
CACHE_BYTES = 2 * LAYERS * HIDDEN * 4

#: Each role between marks of its own, as current models write a chat.
CHAT_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}<|{{ message['role'] }}|>\n{{ message['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)
BEGIN, END = "<s>", "</s>"
MARKS = ("<|system|>", "<|user|>", "<|assistant|>")


def save_model(folder: Path, texts: Iterable[str], *, window: int) -> None:
    """Writes weights, always the same for the same texts, and a tokenizer learned from them, into `folder`.

    Args:
        folder: must be there. texts: what the tokenizer learns its words from. window: of positions.
    """
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    tokenizer = byte_level_tokenizer(texts)
    tokenizer.save_pretrained(folder)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=HIDDEN,
        intermediate_size=4 * HIDDEN,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        num_key_value_heads=HEADS,
        max_position_embeddings=window,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        tie_word_embeddings=False,
        dtype="float32",
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = LlamaForCausalLM(config)
    # The end scores 0 everywhere, and of thousands of random scores some are above: no answer ends before it is cut.
    with torch.no_grad():
        model.lm_head.weight[tokenizer.eos_token_id] = 0.0
    model.save_pretrained(folder)


def byte_level_tokenizer(texts: Iterable[str]) -> Any:
    """Byte-level BPE, as Llama 3 and Qwen have it, learned from the texts; as transformers reads it, with a chat template."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    learner = Tokenizer(models.BPE())
    learner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    learner.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=[BEGIN, END, *MARKS],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    learner.train_from_iterator(texts, trainer)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=learner, bos_token=BEGIN, eos_token=END)
    tokenizer.chat_template = CHAT_TEMPLATE
    return tokenizer
