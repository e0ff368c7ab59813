"""Finds a model's answer in what chats and servers keep of it: messages, completions, and the output of OpenAI's batches.

The last message of the assistant is the answer, and the last message of the user before it the prompt; of several choices the
first counts. What is not read for that is remarked. A refusal is an answer, too: it is what the model said.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from localfact.inputs.json_rows import Row, first, is_conversation, names_of, parse_json, shown_error

#: Names of a response, ours first: FActScore and IBM have output, VeriScore and FaStfact response, ragas had answer, DeepEval
#: actual_output.
TEXT_KEYS = ("response", "output", "generation", "answer", "completion", "actual_output")
#: Names of a prompt: FActScore and IBM have input, VeriScore and FaStfact question, ragas user_input, RAGChecker query.
PROMPT_KEYS = ("prompt", "question", "input", "user_input", "query")
#: Names of a conversation whose last message answers.
CHAT_KEYS = ("messages", "conversation", "conversations", "contents")
#: What a row has that is a server's answer, or a message, itself.
ANSWER_KEYS = ("choices", "candidates", "message", "result", "body", "role")
#: What asked, in a log that keeps both.
REQUEST_KEYS = ("request", "body", "request_body")
#: Roles, as various servers and data sets name them.
ASSISTANT = frozenset({"assistant", "model", "gpt", "ai", "bot", "chatbot", "chatgpt"})
USER = frozenset({"user", "human", "prompter"})
#: How deep an answer may be wrapped.
DEEPEST = 6

EARLIER = "Conversations with earlier answers, which were not judged, as the last one is the response"
CHOICES = "Rows with further choices, which were not read, as the first one is the response"
CUT = "Responses that the model's limit of tokens cut off"


class FoundAnswer(NamedTuple):
    """What a row says of a model's answer.

    `problem`: why there is none. `remarks`: what rows have in common that a reader must know, each EARLIER, CHOICES or CUT.
    """

    text: str | None = None
    problem: str | None = None
    prompt: str | None = None
    model: str | None = None
    remarks: tuple[str, ...] = ()


def find_answer(row: Row) -> FoundAnswer:
    """The answer in a row: a text under one of TEXT_KEYS, else what stands there or under another key in a server's form."""
    text, given = first(row, TEXT_KEYS), first(row, PROMPT_KEYS)
    asked = given if isinstance(given, str) else None
    if isinstance(text, str):
        return FoundAnswer(text, prompt=asked or _asked_in(row))
    if (problem := _failed_request(row)) is not None:
        return FoundAnswer(problem=problem, prompt=asked or _asked_in(row))
    # A conversation may stand under the name of a prompt (ragas), and a row may be a message or a server's answer itself.
    held = [row[key] for key in TEXT_KEYS if row.get(key) is not None]
    held += [chat for key in CHAT_KEYS if (chat := _conversation(row.get(key))) is not None]
    held += [row[key] for key in PROMPT_KEYS if is_conversation(row.get(key))]
    found = FoundAnswer()
    for value in (*held, *([row] if any(key in row for key in ANSWER_KEYS) else [])):
        found = _say(value, DEEPEST)
        if found.text is not None or found.problem is not None:
            break
    remarks = (*found.remarks, CUT) if row.get("status") == "incomplete" and found.text is not None else found.remarks
    problem = None if found.text is not None else found.problem or _without_answer(row)
    prompt = asked or found.prompt or _asked_in(row)
    return found._replace(prompt=prompt, problem=problem, remarks=tuple(dict.fromkeys(remarks)))


def _conversation(value: object) -> object:
    """What stands under the name of a conversation; where it is a text, what that says in JSON."""
    said = parse_json(value) if isinstance(value, str) else value
    return said if isinstance(said, list | Mapping) else None


def _without_answer(row: Row) -> str:
    if row.get("error"):
        return f"The request has no answer: {_error_text(row['error'])}."
    empty = [key for key in TEXT_KEYS if key in row]
    holds = f"'{empty[0]}' holds {_kind(row[empty[0]])}" if empty else f"it has {names_of(row) or 'nothing'}"
    return f"The row has no response: {holds}. Call its text 'response'; docs/inputs.md has other names that are read."


def _kind(value: object) -> str:
    if isinstance(value, Mapping):
        return f"an object ({names_of(value)})"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return "nothing" if value is None or value != value else f"no text but {str(value)[:40]}"


def _failed_request(row: Row) -> str | None:
    """Why a request of a batch has no answer; None where it has one, or the row is of no batch."""
    result, response = row.get("result"), row.get("response")
    if isinstance(result, Mapping) and result.get("type") not in (None, "succeeded"):
        return f"The request has no answer: {str(result['type'])[:40]}: {_error_text(result.get('error'))}."
    status = response.get("status_code") if isinstance(response, Mapping) else None
    if isinstance(response, Mapping) and status is not None and status != 200:
        body = response.get("body")
        said = _error_text(body.get("error", body) if isinstance(body, Mapping) else body)
        return f"The request failed with status {str(status)[:10]}: {said}."
    if isinstance(row.get("body"), Mapping) and "method" in row and "url" in row:
        return "The row is a request of a batch's input, which has no answer; those are in the batch's output."
    return None


def _error_text(error: object) -> str:
    inner = error.get("error") if isinstance(error, Mapping) else None
    error = inner if isinstance(inner, Mapping) else error
    if isinstance(error, Mapping):
        said = [str(error[name]) for name in ("code", "type", "message") if error.get(name) not in (None, "")]
        error = ": ".join(dict.fromkeys(said))
    return shown_error(error) or "no reason is given"


def _say(value: object, depth: int) -> FoundAnswer:
    """The answer in a value: a text, parts of one, messages, or an object that holds one of these."""
    if depth == 0:
        return FoundAnswer()
    if isinstance(value, str):
        return FoundAnswer(value)
    if isinstance(value, list):
        return _said_in_list(value, depth)
    if not isinstance(value, Mapping):
        return FoundAnswer()
    found = _said_in_object(value, depth)
    model = first(value, ("model", "modelVersion"))
    return found._replace(model=model) if isinstance(model, str) else found


def _said_in_object(value: Mapping[str, Any], depth: int) -> FoundAnswer:
    """The answer in a message, a completion, a response of OpenAI's, or what wraps one."""
    choices = first(value, ("choices", "candidates"))
    if isinstance(choices, list):
        return _take_first_choice(choices, depth)
    if "role" in value or "parts" in value:
        if (role := _role(value) or "model") not in ASSISTANT:
            return FoundAnswer(problem=f"The row has no response: it is a message of the role {role[:40]}.")
        text = _content(value)
        return FoundAnswer(text) if text is not None else FoundAnswer(problem=_silent(value))
    inner = first(value, ("body", "message", "result", "output", "response", *CHAT_KEYS, "content"))
    found = _say(inner, depth - 1)
    if found.text is None and found.problem is None:
        if value.get("error"):
            return FoundAnswer(problem=f"The request has no answer: {_error_text(value['error'])}.")
        return FoundAnswer(value["text"]) if isinstance(value.get("text"), str) else FoundAnswer()
    return found._replace(remarks=(*found.remarks, CUT)) if value.get("status") == "incomplete" else found


def _take_first_choice(choices: Sequence[Any], depth: int) -> FoundAnswer:
    """The first of several choices, by their own numbers."""
    objects = [choice for choice in choices if isinstance(choice, Mapping)]
    if not objects:
        return FoundAnswer(problem="The row has no response: its list of choices is empty.")
    choice = min(objects, key=lambda one: one["index"] if isinstance(one.get("index"), int) else 0)
    remarks = [CHOICES] if len(objects) > 1 else []
    reason = choice.get("finish_reason", choice.get("finishReason"))
    if isinstance(choice.get("text"), str):
        found = FoundAnswer(choice["text"])
    else:
        found = _say(first(choice, ("message", "content", "delta")), depth - 1)
    if found.text is None and found.problem is None:
        return FoundAnswer(problem=f"The row has no response: its choice has no text (finish_reason: {str(reason)[:40]}).")
    cut = [CUT] if str(reason).lower() in ("length", "max_tokens") else []
    return found._replace(remarks=(*found.remarks, *remarks, *cut))


def _said_in_list(value: Sequence[Any], depth: int) -> FoundAnswer:
    texts = [one for one in value if isinstance(one, str)]
    if len(texts) == len(value):
        problem = f"The row has no response: {len(value)} texts stand where one must." if value else None
        return FoundAnswer(texts[0]) if len(texts) == 1 else FoundAnswer(problem=problem)
    objects = [one for one in value if isinstance(one, Mapping)]
    messages = [one for one in objects if _role(one) is not None]
    if not messages:
        text = _content({"content": objects})
        if text is None and len(objects) == 1:
            return _say(objects[0], depth - 1)
        return FoundAnswer(text)
    # The last message of the assistant; what it called tools for in the meantime is no answer, nor are its thoughts.
    answers = [place for place, one in enumerate(messages) if _role(one) in ASSISTANT]
    if not answers:
        return FoundAnswer(
            problem="The row has no response: none of its messages is the assistant's.", prompt=_last_asked(messages)
        )
    last = answers[-1]
    prompt = _last_asked(messages[:last])
    text = _content(messages[last])
    if text is None:
        return FoundAnswer(problem=_silent(messages[last]), prompt=prompt)
    earlier = any(_content(messages[place]) and not _calls(messages[place]) for place in answers[:-1])
    return FoundAnswer(text, prompt=prompt, remarks=(EARLIER,) if earlier else ())


def _role(message: Mapping[str, Any]) -> str | None:
    """Who says it: by `role`, `from` (ShareGPT), or a `type` human or ai (LangChain, ragas)."""
    for key in ("role", "from", "type"):
        role = message.get(key)
        if isinstance(role, str) and (key != "type" or role.lower() in ASSISTANT | USER | {"system", "tool"}):
            return role.lower()
    return None


def _calls(message: Mapping[str, Any]) -> bool:
    return bool(message.get("tool_calls") or message.get("function_call"))


def _silent(message: Mapping[str, Any]) -> str:
    what = "calls a tool and says nothing" if _calls(message) or _has_part(message, "tool_use") else "has no text"
    return f"The row has no response: the assistant's last message {what}."


def _has_part(message: Mapping[str, Any], kind: str) -> bool:
    content = message.get("content")
    return isinstance(content, list) and any(isinstance(part, Mapping) and part.get("type") == kind for part in content)


def _last_asked(messages: Sequence[Mapping[str, Any]]) -> str | None:
    return next((text for one in reversed(messages) if _role(one) in USER and (text := _content(one))), None)


def _content(message: Mapping[str, Any]) -> str | None:
    """The text of a message, its parts joined; of thoughts, tools and pictures nothing. None where it has none."""
    data = message.get("data")
    if isinstance(data, Mapping) and "content" in data:
        message = data
    content = first(message, ("content", "parts", "value"))
    if content == "" or content is None or content == []:
        refusal = message.get("refusal")
        return refusal if isinstance(refusal, str) else content if content == "" and not _calls(message) else None
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        content = first(content, ("parts", "content", "text"))
        content = [content] if isinstance(content, str) else content
    texts = [text for part in content if (text := _part(part))] if isinstance(content, list) else []
    return _join(texts) if texts else None


def _part(part: object) -> str | None:
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping) or part.get("thought") is True or part.get("type") in ("thinking", "reasoning"):
        return None
    text = first(part, ("text", "refusal"))
    if isinstance(text, Mapping):
        text = text.get("value")
    return text if isinstance(text, str) else None


def _join(texts: Sequence[str]) -> str:
    """Parts of one text: where one ends as a sentence does and the next begins without a space, a line ends between them."""
    joined = texts[0]
    for text in texts[1:]:
        ends = joined.rstrip()[-1:] in ".!?:" and joined[-1:].strip() and text[:1].strip()
        joined += ("\n" if ends else "") + text
    return joined


def _asked_in(row: Row) -> str | None:
    """The user's last message in a row, or in the request that a log keeps beside the answer."""
    requests = [row[key] for key in REQUEST_KEYS if isinstance(row.get(key), Mapping)]
    inner = [first(request, ("messages", "input", "prompt")) for request in requests]
    for value in (*(row.get(key) for key in (*PROMPT_KEYS, *CHAT_KEYS)), *inner):
        if isinstance(value, str):
            return value
        if isinstance(value, list) and (asked := _last_asked([one for one in value if isinstance(one, Mapping)])) is not None:
            return asked
    return None
