"""A small language model with a LoRA adapter on the CPU, which continues short texts by greedy decoding.

Each text goes through the model by itself, on one core, so that a result does not depend on what else is written. Most of it
repeats words of the prompt, so several tokens are guessed from there and checked at once (prompt lookup decoding; Saxena 2023),
which only saves time.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from localfact.errors import InputError
from localfact.models.adapters import add_adapter
from localfact.models.cards import load_card, weights_folder
from localfact.models.embedder import single_threaded_workers
from localfact.models.loading import loading_error
from localfact.models.model_card import ModelCard

if TYPE_CHECKING:
    import torch

#: Tokens guessed at once.
GUESSED = 8
#: The most tokens of a continuation, and of a prompt; of a longer prompt the beginning is cut off.
MOST_WRITTEN, MOST_READ = 320, 640


def writer_identity(card: ModelCard) -> str:
    """The identity of the model of a card with a base: both revisions.

    Raises:
        MissingError: the weights of the base are not on this machine. InputError: the card has no base.
    """
    base = base_of(card)
    weights_folder(base)
    return f"{card.identity}+{base.identity}"


def base_of(card: ModelCard) -> ModelCard:
    """The card of the base, its weights found where they are. Raises InputError where the card has no base."""
    if card.base is None:
        raise InputError(f"The card '{card.name}' names no base to which its weights are a difference.")
    return load_card(card.base)


class TextWriter:
    """The model of a card with a `base`. Safe to call from several threads.

    Raises:
        MissingError: the weights of its base are not on this machine.
        InputError: they cannot be loaded, or the card has no base.
    """

    def __init__(self, card: ModelCard) -> None:
        base = base_of(card)
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()  # type: ignore[no-untyped-call]
        folder = weights_folder(base)
        try:
            # Texts are data: one that spells a special token does not end itself.
            self._tokenizer = AutoTokenizer.from_pretrained(
                folder, local_files_only=True, trust_remote_code=False, split_special_tokens=True
            )
            model: Any = AutoModelForCausalLM.from_pretrained(
                folder, local_files_only=True, trust_remote_code=False, weights_only=True, dtype=torch.float32
            )
        except Exception as error:  # of any class, where a file is damaged
            raise loading_error(folder, f"the language model '{base.name}'", error) from error
        add_adapter(model, weights_folder(card))
        self._model: Any = model.eval()
        self._workers = single_threaded_workers()

    def write(self, prompts: Sequence[str], done: Callable[[str], bool] = lambda written: False) -> list[str]:
        """Returns the continuation of each prompt, without the end token.

        It stops after MOST_WRITTEN tokens, or as soon as `done` accepts what is written so far.
        """
        order = sorted(range(len(prompts)), key=lambda place: -len(prompts[place]))  # the longest are not left for the end
        found = self._workers.map(lambda place: self._one(prompts[place], done), order)
        written = dict(zip(order, found, strict=True))
        return [written[place] for place in range(len(prompts))]

    def close(self) -> None:
        """Ends the threads."""
        self._workers.shutdown(cancel_futures=True)

    def _one(self, prompt: str, done: Callable[[str], bool]) -> str:
        import torch

        def ends(read: torch.Tensor, scores: Any, **_: Any) -> torch.Tensor:
            return torch.tensor([done(self._text(read[0, len(ids) :]))])

        ids = self._tokenizer(prompt, add_special_tokens=False)["input_ids"][-MOST_READ:]
        given = torch.tensor([ids])
        with torch.inference_mode():
            found: torch.Tensor = self._model.generate(
                given,
                attention_mask=torch.ones_like(given),
                do_sample=False,
                max_new_tokens=MOST_WRITTEN,
                prompt_lookup_num_tokens=GUESSED,
                eos_token_id=self._tokenizer.eos_token_id,
                pad_token_id=self._tokenizer.eos_token_id,
                stopping_criteria=[ends],
            )
        return self._text(found[0, len(ids) :])

    def _text(self, tokens: "torch.Tensor") -> str:
        return str(self._tokenizer.decode(tokens, skip_special_tokens=True))
