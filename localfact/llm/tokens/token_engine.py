"""An engine over something that continues token ids: chats become ids, label sets become trees, tokens get their places.

Chats are written by the model's own template (`chat.py`), label sets become trees (`labels.py`), and generated tokens get their
places in the text (`offsets.py`). What continues the ids is a core: vLLM in this process (`cores/vllm.py`), or a server
(`cores/server.py`).
"""

import asyncio
import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Protocol, get_args

from localfact.errors import PromptTooLongError, RequestError
from localfact.llm.calls import ChooseCall, CountCall, GenerateCall
from localfact.llm.client import ModelEngine
from localfact.llm.engine import Chat, Choice, EngineIdentity, Finish, Generation, Grammar, Token
from localfact.llm.tokens.chat import ChatLayout
from localfact.llm.tokens.labels import Ids, LabelTree, Node, label_tree
from localfact.llm.tokens.offsets import Writing, write
from localfact.runtime.tasks import together
from localfact.runtime.usage import Usage

#: The most tokens whose log-probabilities vLLM reports in one request.
MOST_CHILDREN = 128
#: An answer under a grammar ends where at least so many tokens stand three times in a row: more than one claim may have.
REPEATED: Mapping[str, int] = {"min_pattern_size": 25, "max_pattern_size": 200, "min_count": 3}


@dataclass(frozen=True)
class TokenRequest:
    """What is asked about token ids.

    Attributes:
        max_tokens: the most that are generated.
        temperature: 0 for the most probable token each time.
        seed: None for any.
        stop: texts that end the answer.
        grammar: what the whole answer matches.
        thinking: the most tokens of a model's thoughts; None for a model without.
        children: tokens whose log-probabilities at the first place are wanted; else those of what is generated.
        group: requests of one number begin alike, and are best answered by one replica.
    """

    max_tokens: int
    temperature: float = 0.0
    seed: int | None = None
    stop: Sequence[str] = ()
    grammar: Grammar | None = None
    thinking: int | None = None
    children: Sequence[int] = ()
    group: int = 0


@dataclass(frozen=True)
class TokenAnswer:
    """What came of it.

    Attributes:
        ids: the tokens that were generated, the one that ended it included.
        log_probs: at each place, token -> log-probability: the full vocabulary's, at temperature 1.
        finish: why it ended.
        stopped_by: the stop string that ended it; None for none.
        text: only where one did.
        prompt_tokens, cached_tokens: what was read, and how much of that was known from before.
    """

    ids: Sequence[int]
    log_probs: Sequence[Mapping[int, float]]
    finish: str
    stopped_by: str | None = None
    text: str = ""
    prompt_tokens: int = 0
    cached_tokens: int = 0


class Core(Protocol):
    """Continues token ids. `window`: how many tokens prompt and answer may have together."""

    window: int

    async def ask(self, ids: Sequence[int], request: TokenRequest) -> TokenAnswer:
        """Makes one request, which is given up when the caller is cancelled.

        Raises:
            InputError: a parameter is refused. RequestError: this request failed. EngineError: the core has ended.
        """
        ...

    def end(self) -> None:
        """Ends it; open requests fail. May be called again."""
        ...


class TokenEngine(ModelEngine):
    """An `Engine` over a core. Any event loop may use it, also several, one after the other.

    Args:
        layout: the model's tokenizer and template.
        thought_tokens: how many tokens the model may think besides its answer.
        thoughts: generated ids -> the ids of the answer behind the thoughts; None for a model without.
    """

    def __init__(
        self,
        identity: EngineIdentity,
        layout: ChatLayout,
        core: Core,
        *,
        thought_tokens: int = 0,
        thoughts: Callable[[list[int]], Sequence[int]] | None = None,
    ) -> None:
        self.identity = identity
        self._layout = layout
        self._core = core
        self._thought_tokens = thought_tokens
        self._thoughts = thoughts
        self._window = min(identity.window, core.window)

    async def answer_count(self, call: CountCall) -> int:
        """Returns how many tokens the chat has as sent."""
        text = partial(self._layout.render_question, prefix=call.prefix) if call.prefix else self._layout.text
        return len(await asyncio.to_thread(lambda: self._layout.ids(text(call.chat))))

    async def answer_generate(self, call: GenerateCall) -> Generation:
        """Returns the model's answer, of at most `max_tokens` tokens and no more than the window leaves room for.

        Raises:
            PromptTooLongError: the window has no room for even one token of an answer.
            InputError: vLLM refuses a parameter, an empty stop string for example.
            RequestError: the engine failed at this request. EngineError: the engine has ended.
        """
        started = perf_counter()
        ids = await asyncio.to_thread(lambda: self._layout.ids(self._layout.text(call.chat)))
        self._admit(ids)
        request = TokenRequest(
            max_tokens=min(call.max_tokens + self._thought_tokens, self._window - len(ids)),
            thinking=self._thought_tokens if self._thoughts is not None else None,
            temperature=call.temperature,
            seed=call.seed if call.temperature > 0 else None,
            stop=tuple(call.stop),
            grammar=call.grammar,
            group=group_of(call.chat),
        )
        said = await self._core.ask(ids, request)
        finish = next((word for word in get_args(Finish) if word == said.finish), None)
        if finish is None:
            raise RequestError(f"The engine gave a request up ({said.finish}).")
        writing = await asyncio.to_thread(self._write, ids, said, call.stop)
        log_probs = [require_finite(entry[token]) for token, entry in zip(said.ids, said.log_probs, strict=False)]
        begin = self._answer(said.ids, writing)
        tokens = tuple(
            Token(log_prob=log_probs[place.number], start=place.start - begin, end=place.end - begin)
            for place in writing.places
            if place.start >= begin
        )
        usage = _usage([said], started, output_tokens=len(said.ids))
        return Generation(
            text=writing.text[begin:],
            tokens=tokens,
            finish=finish,
            thoughts=writing.text[:begin],
            masked=call.grammar is not None,
            usage=usage,
        )

    async def answer_choose(self, call: ChooseCall) -> Choice:
        """Returns the labels' log-probabilities: exact, over the full vocabulary, one request for each node of their tree.

        Labels are tokenised together with the prompt (`labels.label_tree`); decodes nothing.

        Raises:
            InputError: two labels have the same tokens.
            PromptTooLongError: the window has no room for chat and labels.
            RequestError: the engine failed at this request. EngineError: the engine has ended.
        """
        started = perf_counter()
        tree = await asyncio.to_thread(self._tree, call)
        asked = [path[:-1] for path in tree.paths.values()] if call.whole else [node.stem for node in tree.nodes]
        self._admit(tree.prompt + max(asked, key=len))
        group = group_of(call.chat)
        answers, outputs = await self._probe(tree, tree.nodes, group)
        choice = Choice(log_probs=tree.log_probs(answers))
        if call.whole:
            forced = tree.rest(choice.best)
            further, more = await self._probe(tree, forced, group)
            outputs += more
            steps = [log_prob for node in forced for log_prob in further[node.stem].values()]
            choice = choice.model_copy(update={"whole": choice.log_probs[choice.best] + sum(steps)})
        return choice.model_copy(update={"usage": _usage(outputs, started, output_tokens=0)})

    async def _probe(
        self, tree: LabelTree, nodes: Sequence[Node], group: int
    ) -> tuple[dict[Ids, dict[int, float]], list[TokenAnswer]]:
        """The log-probabilities at some places of a tree, and the engine's outputs."""
        asked = [(node, part) for node in nodes for part in node.parts(MOST_CHILDREN)]
        outputs = await together(
            self._core.ask([*tree.prompt, *node.stem], TokenRequest(max_tokens=1, children=tuple(part), group=group))
            for node, part in asked
        )
        answers: dict[Ids, dict[int, float]] = {}
        for (node, part), output in zip(asked, outputs, strict=True):
            (entry,) = output.log_probs
            answers.setdefault(node.stem, {}).update({child: require_finite(entry[child]) for child in part})
        return answers, list(outputs)

    async def aclose(self) -> None:
        """Ends the engine; open calls fail. May be called again."""
        await asyncio.to_thread(self._core.end)

    def _tree(self, call: ChooseCall) -> LabelTree:
        prompt_ids, written = self._layout.continue_tokens(self._layout.render_question(call.chat, call.prefix), call.labels)
        return label_tree(prompt_ids, dict(zip(call.labels, written, strict=True)))

    def _write(self, prompt: Sequence[int], said: TokenAnswer, stop: Sequence[str]) -> Writing:
        ended_itself = said.finish == "stop" and said.stopped_by is None
        spoken = said.ids[:-1] if ended_itself else said.ids
        writing = write(self._layout.decoder, prompt, spoken, self._layout.silent)
        return writing.fit(said.text, stop) if said.stopped_by is not None else writing

    def _answer(self, ids: Sequence[int], writing: Writing) -> int:
        """Where in the text the answer itself begins, behind the thoughts: their white space at its beginning is theirs."""
        if self._thoughts is None:
            return 0
        first = len(ids) - len(self._thoughts(list(ids)))
        begin = min((place.start for place in writing.places if place.number >= first), default=len(writing.text))
        return begin + len(writing.text[begin:]) - len(writing.text[begin:].lstrip())

    def _admit(self, ids: Sequence[int]) -> None:
        room = self._window - len(ids)
        if room < 1:
            raise PromptTooLongError(
                f"The prompt has {len(ids):,} tokens and needs room for at least 1 of an answer; "
                f"the window of {self.identity.model} has {self._window:,}. "
                "Shorten the text, or take a model with a larger window."
            )


def group_of(chat: Chat) -> int:
    """A number that chats share which begin alike: the checksum of their group or, without one, of their text."""
    text = "\n".join(message.group for message in chat if message.group) or "\n".join(message.content for message in chat)
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


def _usage(answers: Sequence[TokenAnswer], started: float, *, output_tokens: int) -> Usage:
    return Usage(
        requests=len(answers),
        prompt_tokens=sum(answer.prompt_tokens for answer in answers),
        cached_tokens=sum(answer.cached_tokens for answer in answers),
        output_tokens=output_tokens,
        seconds=perf_counter() - started,
    )


def require_finite(log_prob: float) -> float:
    """Returns a log-probability as it is. Raises RequestError where it is not a number (NaN)."""
    if math.isnan(log_prob):
        raise RequestError("The model answers with numbers that are none (NaN): run it with another dtype or quantisation.")
    return log_prob
