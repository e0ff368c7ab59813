"""The language of the templates: text with fields, conditions and loops, a small part of Jinja's. Nothing in it is executed.

Jinja reads a template into a tree, and this file walks the tree. Fields are looked up in plain dictionaries and lists alone, so
a template reaches no attribute, no file and no function but those named here; and it ends: loops go over lists that it is
given, macros call no macros, and both its steps and what it writes are bounded.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, get_args

from jinja2 import Environment, TemplateSyntaxError, nodes

from localfact.llm.markers import Kind
from localfact.prompts.fields import TemplateError

#: The most characters that a template may write, and the most steps that it may take.
LONGEST, MOST_STEPS = 4_000_000, 200_000
#: The deepest that one thing may stand in another.
DEEPEST = 40
#: A name in the fields of a macro's body, which no template can spell: there no other macro is called.
MACRO = "within a macro"


class Material(str):
    """Untrusted text: `enclose` shows it between markers; anywhere else whatever a model could take for more is broken up."""

    __slots__ = ()


class Fields(dict[str, Any]):
    """A task's fields, all of them: any other is an error, where in an example it is only not there."""


def fields_named(source: str) -> set[str]:
    """All names in a template, fields of others left out."""
    return {name.name for name in read_template(source).find_all(nodes.Name)}


@lru_cache(maxsize=256)
def read_template(source: str) -> nodes.Template:
    """The tree of a template.

    Raises:
        TemplateError: it cannot be read.
    """
    try:
        return Environment(trim_blocks=True, lstrip_blocks=True).parse(source)
    except TemplateSyntaxError as error:
        raise TemplateError(f"line {error.lineno} cannot be read: {error.message}") from None
    except RecursionError:
        raise TemplateError("it is nested too deeply") from None


@dataclass
class TemplateWriter:
    """Writes what one template says, once.

    Attributes:
        enclose: shows a text between markers: kind, text, title.
        bare: shows a text without them.
        exploring: goes every way at once, so that what is wrong on any of them is found.
    """

    enclose: Callable[..., str]
    bare: Callable[[str], str]
    exploring: bool = False
    written: int = 0
    steps: int = 0
    depth: int = 0

    def write(self, source: str, values: Mapping[str, Any]) -> str:
        """The text of a template.

        Raises:
            TemplateError: see there.
        """
        try:
            return self._write_all(read_template(source).body, dict(values))
        except RecursionError:
            raise TemplateError("it is nested too deeply") from None

    def _write_all(self, body: Sequence[nodes.Node], scope: dict[str, Any]) -> str:
        self.depth += 1
        if self.depth > DEEPEST:
            raise TemplateError("it is nested too deeply")
        written = "".join([self._write(node, scope) for node in body])
        self.depth -= 1
        return written

    def _write(self, node: nodes.Node, scope: dict[str, Any]) -> str:
        self._step()
        match node:
            case nodes.TemplateData():
                return self._bound(node.data)
            case nodes.Output():
                return "".join([self._write(part, scope) for part in node.nodes])
            case nodes.If():
                return self._write_condition(node, scope)
            case nodes.For(recursive=False, test=None, target=nodes.Name()):
                return self._write_loop(node, scope)
            case nodes.Macro(defaults=[]):
                scope[node.name] = node
                return ""
            case nodes.Expr():
                return self._bound(self._shown(node, self._value(node, scope)))
        raise refusal(node)

    def _write_condition(self, node: nodes.If, scope: dict[str, Any]) -> str:
        ways = [(node.test, node.body), *((one.test, one.body) for one in node.elif_)]
        if self.exploring:
            for test, _ in ways:
                self._value(test, scope)
            return "".join([self._write_all(body, scope) for body in (*(body for _, body in ways), node.else_)])
        body = next((body for test, body in ways if self._value(test, scope)), node.else_)
        return self._write_all(body, scope)

    def _write_loop(self, node: nodes.For, scope: dict[str, Any]) -> str:
        items = self._value(node.iter, scope)
        if not isinstance(items, list):
            raise TemplateError(f"line {node.lineno} loops over what is no list")
        written = []
        for index, item in enumerate(items, start=1):
            self._step()
            loop = Fields(index=index, first=index == 1, last=index == len(items))
            written.append(self._write_all(node.body, {**scope, node.target.name: item, "loop": loop}))  # type: ignore[attr-defined]
        if not items or self.exploring:
            written.append(self._write_all(node.else_, scope))
        return "".join(written)

    def _value(self, node: nodes.Node, scope: dict[str, Any]) -> Any:
        self._step()
        match node:
            case nodes.Const():
                return node.value
            case nodes.Name():
                return look_up(node, scope, node.name)
            case nodes.Getattr():
                owner = self._value(node.node, scope)
                # An example has what it has: of ways that are not gone with it, nothing need be there.
                lenient = self.exploring and isinstance(owner, dict) and not isinstance(owner, Fields)
                return owner.get(node.attr, "") if lenient else look_up(node, owner, node.attr)
            case nodes.Getitem():
                return self._item(node, scope)
            case nodes.Call(kwargs=[], dyn_args=None, dyn_kwargs=None):
                return self._call(node, scope)
            case nodes.Filter(node=nodes.Expr() as joined, name="join", args=[nodes.Const(value=str(between))], kwargs=[]):
                items = self._value(joined, scope)
                if isinstance(items, list):
                    return "".join([self._bound(f"{between}{self._shown(node, item)}") for item in items])[len(between) :]
            case nodes.Concat():
                return "".join([self._bound(self._shown(one, self._value(one, scope))) for one in node.nodes])
            case nodes.Compare(ops=[nodes.Operand(op=("eq" | "gt") as how) as other]):
                left, right = self._value(node.expr, scope), self._value(other.expr, scope)
                return left == right if how == "eq" else isinstance(left, int) and isinstance(right, int) and left > right
            case nodes.Not():
                return not self._value(node.node, scope)
            case nodes.And():
                return self._either(self._value(node.left, scope), node.right, node.left, scope)
            case nodes.Or():
                return self._either(self._value(node.left, scope), node.left, node.right, scope)
            case nodes.CondExpr(expr2=nodes.Expr() as otherwise):
                return self._either(self._value(node.test, scope), node.expr1, otherwise, scope)
        raise refusal(node)

    def _either(self, holds: Any, one: nodes.Node, other: nodes.Node, scope: dict[str, Any]) -> Any:
        if self.exploring:
            self._value(other if holds else one, scope)
        return self._value(one if holds else other, scope)

    def _item(self, node: nodes.Getitem, scope: dict[str, Any]) -> Any:
        items = self._value(node.node, scope)
        match node.arg:
            case nodes.Slice(step=None):
                start, stop = (None if end is None else self._value(end, scope) for end in (node.arg.start, node.arg.stop))
                place: Any = slice(start, stop)
            case _:
                place = self._value(node.arg, scope)
        if not isinstance(items, list) or not isinstance(place, int | slice):
            raise refusal(node)
        try:
            return items[place]
        except (IndexError, TypeError):
            raise TemplateError(f"line {node.lineno} names a place that a list does not have") from None

    def _call(self, node: nodes.Call, scope: dict[str, Any]) -> Any:
        match node.node, node.args:
            case nodes.Name(name="enclose"), [nodes.Const(value=kind), *shown] if kind in get_args(Kind) and len(shown) in (
                1,
                2,
            ):
                texts = [self._value(one, scope) for one in shown]
                if all(isinstance(text, str) for text in texts):
                    return self.enclose(kind, *texts)
            case nodes.Getattr(attr="get") as got, [nodes.Const(value=str(name))]:
                owner = self._value(got.node, scope)
                if isinstance(owner, dict):
                    return look_up(node, owner, name) if isinstance(owner, Fields) else owner.get(name, "")
            case nodes.Name() as called, given if isinstance(macro := scope.get(called.name), nodes.Macro):
                if MACRO in scope or len(given) != len(macro.args):
                    raise refusal(node)
                values = {one.name: self._value(value, scope) for one, value in zip(macro.args, given, strict=True)}
                return self._write_all(macro.body, {**scope, **values, MACRO: True})
        raise refusal(node)

    def _shown(self, node: nodes.Node, value: Any) -> str:
        """A value as it stands in the prompt."""
        if isinstance(value, Material):
            return self.bare(value)
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            return str(value)
        raise TemplateError(f"line {node.lineno} shows what is no text: loop over a list, name a field of what is one")

    def _step(self) -> None:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise TemplateError(f"it takes more than {MOST_STEPS:,} steps")

    def _bound(self, written: str) -> str:
        self.written += len(written)
        if self.written > LONGEST:
            raise TemplateError(f"it writes more than {LONGEST:,} characters")
        return written


def look_up(node: nodes.Node, owner: Any, name: str) -> Any:
    """What a dictionary has under a name; of nothing else is anything ever looked up."""
    if isinstance(owner, dict) and name in owner and name != MACRO:
        return owner[name]
    raise TemplateError(f"line {node.lineno} names a field that there is not: {name:.100}")


def refusal(node: nodes.Node) -> TemplateError:
    """The error of a part of Jinja's that this language does not have."""
    kind = type(node).__name__.lower()
    return TemplateError(f"line {node.lineno} has what a prompt's template may not have ({kind})")
