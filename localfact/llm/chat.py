"""From a chat to the token ids that are sent: the model's own chat template, followed by the answer prefix if there is one.

A model without a template (a base model) gets a plain layout: the messages' texts with blank lines between them, and the answer
on a line of its own. Contents are data: where they spell one of the tokenizer's special tokens, it is broken up, so that no
text of a page or of a model can end its turn and begin another.
"""

import json
import re
from collections.abc import Sequence
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from localfact.errors import InputError, MissingError
from localfact.llm.engine import Chat

if TYPE_CHECKING:
    from tokenizers import Tokenizer

#: The template hash of a tokenizer that has no template.
PLAIN = "plain"
#: The date given to templates that ask for one (Granite, Llama 3.2). Fixed, so that prompts do not change from day to day.
TODAY = date(2024, 7, 26)


def template_hash(folder: Path) -> str:
    """Returns "sha256:..." of the chat template in a model's folder, or "plain" where there is none; loads no library.

    Read where transformers reads it: chat_template.jinja, else `chat_template` of tokenizer_config.json (a text, or named ones
    of which "default" is used).
    """
    template = _written_template(folder)
    return PLAIN if template is None else "sha256:" + sha256(template.encode("utf-8")).hexdigest()


def _written_template(folder: Path) -> str | None:
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

    Attributes:
        decoder: the fast tokenizer itself, for decoding.
        silent: ids of the special tokens, which write no text.

    Raises:
        MissingError: the folder has no tokenizer, or none that works in the `tokenizers` library (which token offsets need).
    """

    def __init__(self, folder: Path, *, trust_remote_code: bool = False) -> None:
        from transformers import AutoTokenizer

        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(
                folder, local_files_only=True, trust_remote_code=trust_remote_code
            )
            self.decoder: Tokenizer = self._tokenizer.backend_tokenizer
        except Exception as error:  # transformers and tokenizers raise exceptions of any class for a file they cannot use
            raise MissingError(
                f"No usable tokenizer in {folder} ({error}). Fetch the model again, tokenizer.json included."
            ) from error
        # Set once, here: encoding itself must change nothing, several threads do it at once.
        self.decoder.no_truncation()
        self.decoder.no_padding()
        added = self.decoder.get_added_tokens_decoder()
        self.silent = frozenset(number for number, token in added.items() if token.special)
        marks = sorted((token.content for token in added.values() if token.special and len(token.content) > 1), key=len)
        self._marks = re.compile("|".join(map(re.escape, reversed(marks)))) if marks else None
        self._has_template = self._tokenizer.chat_template is not None

    def text(self, chat: Chat, prefix: str = "") -> str:
        """Returns the chat as the model reads it, with the generation prompt and the answer prefix.

        Raises:
            InputError: no message, or the template refuses the chat.
        """
        if not chat:
            raise InputError("A chat needs at least one message.")
        messages = [{"role": message.role, "content": self._disarmed(message.content)} for message in chat]
        written = self._templated(messages) if self._has_template else self._plain(messages)
        return written + self._disarmed(prefix)

    def ids(self, text: str) -> list[int]:
        """Returns the tokens of a text made by `text`; the beginning-of-text token stands once, if the model wants it."""
        return self.all_ids([text])[0]

    def all_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Returns the tokens of several texts, as `ids` does."""
        start = [] if self._has_template else self._start
        return [start + encoding.ids for encoding in self.decoder.encode_batch_fast(list(texts), add_special_tokens=False)]

    @property
    def _start(self) -> list[int]:
        first: list[int] = self.decoder.encode("", add_special_tokens=True).ids[:1]
        return first if first == [self._tokenizer.bos_token_id] else []

    def _templated(self, messages: list[dict[str, str]]) -> str:
        from jinja2 import TemplateError

        try:
            return self._applied(messages)
        except TemplateError as refusal:
            joined = _without_system(messages)
            if joined == messages:
                raise InputError(f"The model's chat template refuses these messages: {refusal}.") from refusal
        # Some templates know no system role (Gemma's, Mistral's first): its text opens the user's turn, as authors advise.
        try:
            return self._applied(joined)
        except TemplateError as refusal:
            raise InputError(f"The model's chat template refuses these messages: {refusal}.") from refusal

    def _applied(self, messages: list[dict[str, str]]) -> str:
        written: str = self._tokenizer.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=True, strftime_now=TODAY.strftime
        )
        return written

    @staticmethod
    def _plain(messages: list[dict[str, str]]) -> str:
        return "\n\n".join(message["content"] for message in messages) + "\n"

    def _disarmed(self, content: str) -> str:
        if self._marks is None:
            return content
        return self._marks.sub(lambda mark: mark[0][0] + " " + mark[0][1:], content)


def _without_system(messages: list[dict[str, str]]) -> list[dict[str, str]]:
    if len(messages) < 2 or messages[0]["role"] != "system" or messages[1]["role"] != "user":
        return messages
    opened = {"role": "user", "content": messages[0]["content"] + "\n\n" + messages[1]["content"]}
    return [opened, *messages[2:]]
