"""Chat templates that write turns as the families of models do, each on a small tokenizer that has the marks of its family.

Written for the tests: only how turns begin and end is the models' own, which is what decides where an answer begins.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal


@dataclass(frozen=True)
class Family:
    """A family's way of writing turns.

    Attributes:
        template: Jinja. special, plain: marks that are special tokens, and marks that are ordinary tokens of their own.
        lead_in: what its turns have between the generation prompt and their content.
        kind: of the tokenizer. arguments: for the template.
    """

    template: str
    special: tuple[str, ...]
    lead_in: str
    plain: tuple[str, ...] = ()
    kind: Literal["bytes", "pieces"] = "bytes"
    arguments: dict[str, Any] = field(default_factory=dict)


LLAMA_3 = (
    "{{ bos_token }}{% for m in messages %}<|start_header_id|>{{ m.role }}<|end_header_id|>\n\n{{ m.content | trim }}<|eot_id|>"
    "{% endfor %}{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}"
)
MISTRAL = (
    "{{ bos_token }}{% for m in messages %}{% if m.role == 'user' %}[INST] {{ m.content }} [/INST]"
    "{% else %} {{ m.content }}{{ eos_token }}{% endif %}{% endfor %}"
)
#: The last turn of an assistant is written with a thought, empty if there was none.
QWEN_3 = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.role == 'assistant' and loop.last %}<think>\n\n</think>\n\n"
    "{% endif %}{{ m.content }}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n"
    "{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>\n\n{% endif %}{% endif %}"
)
GEMMA = (
    "{{ bos_token }}{% for m in messages %}<start_of_turn>{{ 'model' if m.role == 'assistant' else m.role }}\n"
    "{{ m.content | trim }}<end_of_turn>\n{% endfor %}{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
)
#: The generation prompt opens the thought, and earlier turns are written without theirs.
R1 = (
    "{{ bos_token }}{% for m in messages %}{% if m.role == 'user' %}<|User|>{{ m.content }}{% else %}<|Assistant|>"
    "{{ m.content.split('</think>')[-1] }}{{ eos_token }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|Assistant|><think>\n{% endif %}"
)
GPT_OSS = (
    "{% for m in messages %}{% if m.role == 'user' %}<|start|>user<|message|>{{ m.content }}<|end|>{% else %}"
    "<|start|>assistant<|channel|>final<|message|>{{ m.content }}<|return|>{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant{% endif %}"
)

_IM = ("<|im_start|>", "<|im_end|>")
_THINK = ("<think>", "</think>")
FAMILIES = {
    "llama-3": Family(LLAMA_3, ("<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"), ""),
    "mistral": Family(MISTRAL, ("[INST]", "[/INST]"), " ", kind="pieces"),
    "mistral-bytes": Family(MISTRAL, ("[INST]", "[/INST]"), " "),
    "qwen3": Family(QWEN_3, _IM, "<think>\n\n</think>\n\n", _THINK),
    "qwen3-not-thinking": Family(QWEN_3, _IM, "", _THINK, arguments={"enable_thinking": False}),
    "gemma": Family(GEMMA, ("<start_of_turn>", "<end_of_turn>"), ""),
    "r1": Family(R1, ("<|User|>", "<|Assistant|>"), "\n</think>\n\n", _THINK),
    "gpt-oss": Family(
        GPT_OSS, ("<|start|>", "<|message|>", "<|end|>", "<|channel|>", "<|return|>"), "<|channel|>final<|message|>"
    ),
}


def save_family(folder: Path, family: Family) -> Any:
    """Writes a small tokenizer with a family's marks and template, and returns it as transformers reads it."""
    from tiny_models import save_tokenizer
    from tokenizers import AddedToken

    tokenizer = save_tokenizer(folder, family.kind)
    marks = [AddedToken(mark, special=True, normalized=False) for mark in family.special]
    tokenizer.add_tokens(marks, special_tokens=True)
    tokenizer.add_tokens([AddedToken(mark, special=False, normalized=False) for mark in family.plain])
    tokenizer.chat_template = family.template
    tokenizer.save_pretrained(folder)
    return tokenizer
