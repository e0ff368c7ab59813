"""An engine that answers by a script instead of a model: tokens with offsets and log-probabilities, for tests.

It keeps what `llm/engine.py` promises; one contract test holds it and the vLLM engine to that.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate

from localfact.errors import InputError, PromptTooLongError
from localfact.llm.calls import ChooseCall, CountCall, GenerateCall
from localfact.llm.client import ModelEngine
from localfact.llm.engine import Chat, Choice, EngineIdentity, Generation, Message, Token
from localfact.runtime.usage import Usage

#: A text, or its pieces, each with its probability in (0, 1].
ScriptedAnswer = str | Sequence[tuple[str, float]]
#: The probability of pieces for which the script gives none.
CERTAIN = 0.999

_PIECE = re.compile(r"\s?\w+|\s|[^\w\s]+")


class ScriptedEngine(ModelEngine):
    """Answers by a script.

    Args:
        answer: what it answers to a chat.
        choose: label -> probability, for a chat and its labels; labels that are left out share the rest. For the whole
            probability of a label it is called with that label alone. An answer prefix
            stands in the chat as its last message, the assistant's.
        window: tokens of prompt and answer.
        guided: whether a script that breaks the grammar it is asked under is an error; else grammars are ignored.

    Attributes:
        calls: every chat of `generate` and `choose`, in order, with the answer prefix as last message.
    """

    def __init__(
        self,
        answer: Callable[[Chat], ScriptedAnswer] = lambda chat: "",
        choose: Callable[[Chat, Sequence[str]], Mapping[str, float]] = lambda chat, labels: {},
        *,
        window: int = 32_768,
        guided: bool = False,
    ) -> None:
        self.identity = EngineIdentity(model="scripted", revision="0", dtype="float32", window=window)
        self.calls: list[Chat] = []
        self._answer = answer
        self._choose = choose
        self._guided = guided

    async def answer_count(self, call: CountCall) -> int:
        """Returns the number of tokens: a word, a white-space character or a run of signs is one."""
        return count_pieces(call.chat, call.prefix)

    async def answer_generate(self, call: GenerateCall) -> Generation:
        """Returns the script's answer, cut at the first stop string or at `max_tokens`.

        Raises:
            InputError: the script does not keep to the grammar.
        """
        asked = self._admit(call.chat)
        answer = self._answer(call.chat)
        pieces = [(piece, CERTAIN) for piece in _PIECE.findall(answer)] if isinstance(answer, str) else list(answer)
        text = "".join(piece for piece, _ in pieces)
        guides = self._guided and call.grammar is not None
        if guides and not re.fullmatch(call.grammar or "", text):
            raise InputError(f"The script answers {text[:80]!r}, which the grammar does not allow.")
        ends = list(accumulate(len(piece) for piece, _ in pieces))
        stopped = min((text.find(word) for word in call.stop if word in text), default=len(text))
        cut = ends[call.max_tokens - 1] if len(ends) > call.max_tokens else len(text)
        text = text[: min(stopped, cut)]
        tokens = tuple(
            Token(log_prob=math.log(probability), start=end - len(piece), end=min(end, len(text)))
            for (piece, probability), end in zip(pieces, ends, strict=True)
            if end - len(piece) < len(text)
        )
        usage = Usage(prompt_tokens=asked, output_tokens=len(tokens))
        return Generation(text=text, tokens=tokens, finish="length" if cut < stopped else "stop", masked=guides, usage=usage)

    async def answer_choose(self, call: ChooseCall) -> Choice:
        """Returns the script's probabilities."""
        asked = self._admit(call.chat, call.prefix)
        chat = with_prefix(call.chat, call.prefix)
        given = self._choose(chat, call.labels)
        missing = [label for label in call.labels if label not in given]
        rest = max(1e-9, 1.0 - sum(given.values())) / max(1, len(missing))
        log_probs = {label: math.log(given.get(label, rest)) for label in call.labels}
        choice = Choice(log_probs=log_probs, usage=Usage(prompt_tokens=asked))
        if not call.whole:
            return choice
        alone = self._choose(chat, (choice.best,)).get(choice.best)
        return choice.model_copy(update={"whole": log_probs[choice.best] if alone is None else math.log(alone)})

    async def aclose(self) -> None:
        """Does nothing."""

    def _admit(self, chat: Chat, prefix: str = "") -> int:
        self.calls.append(with_prefix(chat, prefix))
        asked = count_pieces(chat, prefix)
        if asked >= self.identity.window:
            raise PromptTooLongError(f"The prompt has {asked:,} tokens; the window has {self.identity.window:,}.")
        return asked


def count_pieces(chat: Chat, prefix: str = "") -> int:
    """Returns how many pieces chat and prefix have: words, white-space characters and runs of signs."""
    return sum(len(_PIECE.findall(text)) for text in (*(message.content for message in chat), prefix))


def with_prefix(chat: Chat, prefix: str) -> Chat:
    """The chat with the answer prefix as a last message of the assistant; the chat itself where the prefix is empty."""
    return (*chat, Message("assistant", prefix)) if prefix else tuple(chat)
