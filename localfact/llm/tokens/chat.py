"""From a chat to the token ids that are sent: the model's own chat template, and the beginning of an answer if there is one.

A model without a template (a base model) gets a plain layout: the messages' texts with blank lines between them, and the answer
on a line of its own. Contents are data: where they spell one of the tokenizer's special tokens, it is broken up, so that no
text of a page or of a model can end its turn and begin another.
"""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import date
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from localfact.errors import InputError, MissingError
from localfact.llm.engine import Chat

if TYPE_CHECKING:
    from tokenizers import Tokenizer

#: The template hash of a tokenizer that has no template.
PLAIN = "plain"
#: The content of a turn that is written to see what surrounds it.
PROBE = "Zx"
#: How far from its end the last special token of a prompt is searched, in characters.
NEAR = 2_000
_TAG = r"(?:think|thinking|thought|reasoning)>"
_OPENS, _CLOSES = re.compile(rf"\s*<{_TAG}"), re.compile(rf"\s*</{_TAG}")
_OPENED = re.compile(rf"(?P<tag><{_TAG})\s*\Z")
#: The date given to templates that ask for one (Granite, Llama 3.2). Fixed, so that prompts do not change from day to day.
TODAY = date(2024, 7, 26)


def template_hash(folder: Path) -> str:
    """Returns "sha256:..." of the chat template in a model's folder, or "plain" where there is none; loads no library.

    Read where transformers reads it: chat_template.jinja, else `chat_template` of tokenizer_config.json (a text, or named ones
    of which "default" is used).
    """
    template = _read_template(folder)
    return PLAIN if template is None else "sha256:" + sha256(template.encode("utf-8")).hexdigest()


def _read_template(folder: Path) -> str | None:
    try:
        found = _template_in(folder)
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"The chat template in {folder} cannot be read: {type(error).__name__}. Fetch the model again."
        ) from error
    if not isinstance(found, str | None):
        raise InputError(f"The chat template in {folder} is no text. Fetch the model again.")
    return found


def _template_in(folder: Path) -> Any:
    alone = folder / "chat_template.jinja"
    if alone.is_file():
        return alone.read_text(encoding="utf-8")
    config = folder / "tokenizer_config.json"
    written = json.loads(config.read_text(encoding="utf-8")).get("chat_template") if config.is_file() else None
    if isinstance(written, list):
        written = {named["name"]: named["template"] for named in written}
    if isinstance(written, dict):
        written = written.get("default")
    return written


class ChatLayout:
    """The tokenizer of one model and its way of writing a chat, read from `folder`. Any number of threads may use it at once.

    Args:
        folder: of the model.
        arguments: what its chat template is given (`ModelCard.template_arguments`).

    Attributes:
        tokenizer: as transformers reads it.
        decoder: the fast tokenizer itself, for decoding.
        silent: ids of the special tokens, which write no text.

    Raises:
        MissingError: the folder has no tokenizer, or none that works in the `tokenizers` library (which token offsets need).
    """

    def __init__(self, folder: Path, arguments: Mapping[str, Any] | None = None, *, trust_remote_code: bool = False) -> None:
        try:
            self.tokenizer = _read(folder, trust_remote_code=trust_remote_code)
            self.decoder: Tokenizer = self.tokenizer.backend_tokenizer
        except Exception as error:  # transformers and tokenizers raise exceptions of any class for a file they cannot use
            raise MissingError(
                f"No usable tokenizer in {folder} ({error}). Fetch the model again, with its tokenizer."
            ) from error
        # Set once, here: encoding itself must change nothing, several threads do it at once.
        self.decoder.no_truncation()
        self.decoder.no_padding()
        added = self.decoder.get_added_tokens_decoder()
        self.silent = frozenset(number for number, token in added.items() if token.special)
        marks = sorted((token.content for token in added.values() if token.special and len(token.content) > 1), key=len)
        self._marks = re.compile("|".join(map(re.escape, reversed(marks)))) if marks else None
        self._arguments = dict(arguments or {})
        self._has_template = self.tokenizer.chat_template is not None

    def text(self, chat: Chat) -> str:
        """Returns the chat as the model reads it, with the generation prompt.

        Raises:
            InputError: no message, or the template refuses the chat.
        """
        if not chat:
            raise InputError("A chat needs at least one message.")
        messages = [{"role": message.role, "content": self._disarm(message.content)} for message in chat]
        return self._apply_or_explain(messages) if self._has_template else self._plain(messages)

    def render_question(self, chat: Chat, prefix: str = "") -> str:
        """Returns the chat with the beginning of an answer, up to the place where the model would write what comes next.

        Between generation prompt and prefix stands what the model's own turns begin with (`lead_in`), unless the prefix begins
        so itself, as an answer that the model wrote does.
        """
        return self.text(chat) + self._lead(prefix) + self._disarm(prefix)

    def _lead(self, prefix: str) -> str:
        lead = self.lead_in
        thinks = _OPENS.match(prefix) or (_CLOSES.match(lead) and _CLOSES.search(prefix))
        return "" if thinks or (lead.isspace() and prefix[:1].isspace()) else lead

    def ids(self, text: str) -> list[int]:
        """Returns the tokens of a text made by `text`; the beginning-of-text token stands once, if the model wants it."""
        return self.all_ids([text])[0]

    def all_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Returns the tokens of several texts, as `ids` does."""
        start = [] if self._has_template else self._start
        return [start + ids for ids in self._encode(texts)]

    def continue_tokens(self, text: str, ends: Sequence[str]) -> tuple[list[int], list[list[int]]]:
        """Returns the tokens of a text, and those of the text with each of the ends: as `ids` of text + end.

        Only the last piece of the text is tokenised again for each end, where that gives the same tokens.
        """
        whole, cut = self.ids(text), self._last_piece(text)
        last, *pieces = self._encode([text[cut:], *(text[cut:] + end for end in ends)])
        if not last or whole[-len(last) :] != last:
            return whole, self.all_ids([text + end for end in ends])
        head = whole[: -len(last)]
        return whole, [head + piece for piece in pieces]

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        return [encoding.ids for encoding in self.decoder.encode_batch_fast(list(texts), add_special_tokens=False)]

    def _last_piece(self, text: str) -> int:
        """Where the last piece of a text begins that is surely tokenised by itself: a special token, or a line."""
        marks = list(self._marks.finditer(text, max(0, len(text) - NEAR))) if self._marks else []
        line = text.rfind("\n", 0, -1) + 1
        return max(marks[-1].start() if marks else 0, line if not text[line : line + 1].isspace() else 0)

    @cached_property
    def lead_in(self) -> str:
        """What this model's turns have between the generation prompt and their content: a space, an empty thought, a channel.

        Found by writing such a turn with the model's template.
        """
        if not self._has_template:
            return ""
        asked = [{"role": "user", "content": "?"}]
        try:
            prompt = self._apply_template(asked)
            turn = self._apply_template([*asked, {"role": "assistant", "content": PROBE}], add_generation_prompt=False)
        except Exception:  # a template that knows no assistant's turn
            return ""
        if turn.startswith(prompt):
            return turn[len(prompt) :].partition(PROBE)[0]
        # A prompt that opens the thought, which earlier turns are written without.
        return f"\n{opened.group('tag')}\n\n".replace("<", "</") if (opened := _OPENED.search(prompt)) else ""

    @property
    def _start(self) -> list[int]:
        first: list[int] = self.decoder.encode("", add_special_tokens=True).ids[:1]
        return first if first == [self.tokenizer.bos_token_id] else []

    def _apply_or_explain(self, messages: list[dict[str, str]]) -> str:
        try:
            return self._apply_template(messages)
        except Exception as refusal:  # its own, or any at all that its expressions raise
            joined = _without_system(messages)
            if joined == messages:
                raise InputError(f"The model's chat template refuses these messages: {refusal}.") from refusal
        # Some templates know no system role (Gemma's, Mistral's first): its text opens the user's turn, as authors advise.
        try:
            return self._apply_template(joined)
        except Exception as refusal:
            raise InputError(f"The model's chat template refuses these messages: {refusal}.") from refusal

    def _apply_template(self, messages: list[dict[str, str]], *, add_generation_prompt: bool = True) -> str:
        written: str = self.tokenizer.apply_chat_template(
            messages,
            tokenize=False,
            add_generation_prompt=add_generation_prompt,
            strftime_now=TODAY.strftime,
            **self._arguments,
        )
        return written

    @staticmethod
    def _plain(messages: list[dict[str, str]]) -> str:
        return "\n\n".join(message["content"] for message in messages) + "\n"

    def _disarm(self, content: str) -> str:
        if self._marks is None:
            return content
        return self._marks.sub(lambda mark: mark[0][0] + " " + mark[0][1:], content)


def _read(folder: Path, *, trust_remote_code: bool) -> Any:
    """The tokenizer; one in another format (sentencepiece, vocabulary and merges, tekken) is converted."""
    from transformers import AutoTokenizer, PreTrainedTokenizerFast

    found: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=trust_remote_code)
    if hasattr(found, "backend_tokenizer"):
        return found
    # Mistral's own tokenizer, which is no part of transformers: its file is converted, without the names of its marks.
    converted: Any = PreTrainedTokenizerFast.from_pretrained(folder, local_files_only=True)
    converted.add_special_tokens({"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"})
    return converted


def _without_system(messages: list[dict[str, str]]) -> list[dict[str, str]]:
    if len(messages) < 2 or messages[0]["role"] != "system" or messages[1]["role"] != "user":
        return messages
    opened = {"role": "user", "content": messages[0]["content"] + "\n\n" + messages[1]["content"]}
    return [opened, *messages[2:]]
