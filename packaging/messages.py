"""Make the template of a report's translations, `fairdesk/wording/locales/report.pot`.

It is made by reading the source: what `say` and `say_many` say, what `fixed` marks, and the fixed
texts of blocks; beside it what the methods, templates and fields are called. Nothing is run but
the modules that hold those.
"""

from __future__ import annotations

import ast
import io
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
from babel.messages.catalog import Catalog
from babel.messages.pofile import write_po

from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.catalogue.options import options_of
from fairdesk.document import blocks
from fairdesk.report import legal
from fairdesk.report.content.fields import FIELDS
from fairdesk.report.content.kinds import TEMPLATES
from fairdesk.report.content.passages import Name
from fairdesk.report.content.passages import passages as passages_of
from fairdesk.report.render import translation

SOURCE = Path(__file__).resolve().parents[1] / "fairdesk"
#: Without a date: the same source gives the same file.
_HEADER = b"""\
# The texts of FairDesk's reports. Translated, it is de.po or fr.po; see CONTRIBUTING.md.
msgid ""
msgstr ""
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"Content-Transfer-Encoding: 8bit\\n"

"""
TEMPLATE = SOURCE / "wording" / "locales" / "report.pot"


class Told(NamedTuple):
    """A message: its text, or those of one and of many, and where it stands."""

    text: str | tuple[str, str]
    place: str


def main() -> None:
    """Write the template; with ``--check`` only say, by the exit code, whether it is up to date."""
    made = template()
    if "--check" in sys.argv[1:]:
        sys.exit(0 if TEMPLATE.exists() and TEMPLATE.read_bytes() == made else 1)
    TEMPLATE.parent.mkdir(exist_ok=True)
    TEMPLATE.write_bytes(made)


def template() -> bytes:
    """Return the template: every message once, in the order of the places that it comes from."""
    made = Catalog()
    for text, place in messages():
        flags = {"python-brace-format"} if "{" in "".join(text) else set()
        made.add(text, locations=[(place, 1)], flags=flags)
    held = io.BytesIO(_HEADER)
    held.seek(0, io.SEEK_END)
    write_po(held, made, width=100, omit_header=True, include_lineno=False)
    return held.getvalue()


def messages() -> Iterator[Told]:
    """Yield every message; some more than once."""
    rooms = ("answers", "charts", "report", "wording")
    for path in sorted(path for room in rooms for path in (SOURCE / room).rglob("*.py")):
        place = path.relative_to(SOURCE.parent).as_posix()
        for text in _of_module(ast.parse(path.read_text("utf-8"))):
            yield Told(text, place)
    for name, texts in (
        ("fairdesk/report/content/kinds.py", _of_templates()),
        ("fairdesk/report/content/form.toml", _of_fields()),
        ("fairdesk/report/content/definitions.toml", _of_passages("definitions")),
        ("fairdesk/report/content/limits.toml", _of_passages("limits")),
        ("fairdesk/audit/catalogue/methods.py", _of_methods()),
        ("fairdesk/report/legal", _of_rules()),
    ):
        yield from (Told(text, name) for text in texts if text)


def _of_module(module: ast.Module) -> Iterator[str | tuple[str, str]]:
    calls = [node for node in ast.walk(module) if isinstance(node, ast.Call)]
    names = _assigned(module)

    def whole(node: ast.expr) -> Iterator[str]:
        """Yield the texts that an expression may be; not those that it is put together from."""
        match node:
            case ast.Constant(value=str(text)) if any(map(str.isalpha, text)):
                yield text
            case ast.Name(id=name):
                for each in names.pop(name, []):
                    yield from whole(each)
            case ast.IfExp():
                yield from whole(node.body)
                yield from whole(node.orelse)
            case ast.BoolOp():
                for each in node.values:
                    yield from whole(each)
            case ast.Tuple() | ast.List() | ast.Set():
                for each in node.elts:
                    yield from whole(each)
            case ast.Dict():
                for each in node.values:
                    yield from whole(each)
            case ast.Starred() | ast.Subscript():
                yield from whole(node.value)

    for call in sorted(calls, key=lambda each: (each.lineno, each.col_offset)):
        match _name(call):
            case "say" | "fixed" | "not_run" if call.args:
                yield from whole(call.args[0])
            case "say_many":
                yield from zip(whole(call.args[1]), whole(call.args[2]), strict=True)
            case "Column":
                yield from whole(dict(_bound(call, ("key", "head"))).get("head", _NONE))
            case name if name in _BLOCKS:
                for field, value in _bound(call, _BLOCKS[name]):
                    if field in _texts_of(name):
                        yield from whole(value)


def _assigned(module: ast.Module) -> dict[str, list[ast.expr]]:
    """Return what names stand for in a module, whether in a function or outside."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(module):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                found.setdefault(name, []).append(value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                found.setdefault(name, []).append(value)
    return found


def _name(call: ast.Call) -> str:
    return getattr(call.func, "id", getattr(call.func, "attr", ""))


def _bound(call: ast.Call, fields: tuple[str, ...]) -> Iterable[tuple[str, ast.expr]]:
    yield from zip(fields, call.args, strict=False)
    yield from ((word.arg, word.value) for word in call.keywords if word.arg)


_NONE = ast.Constant(None)
_BLOCKS = {
    name: one.__struct_fields__
    for name, one in vars(blocks).items()
    if isinstance(one, type) and issubclass(one, msgspec.Struct) and one is not msgspec.Struct
}


def _texts_of(name: str) -> tuple[str, ...]:
    extra = {"Fact": ("name",), "Section": ("title",), "Report": ("kind", "promise", "redacted")}
    tag = getattr(blocks, name).__struct_config__.tag
    return extra.get(name) or translation.TEXTS.get(str(tag), ())


def _of_templates() -> Iterator[str]:
    for each in TEMPLATES.values():
        yield from (each.title, each.holds)


def _of_fields() -> Iterator[str]:
    for each in FIELDS.values():
        yield from (each.label, each.help, each.group, *each.choices)


def _of_passages(name: Name) -> Iterator[str]:
    for passages in passages_of(name).values():
        for each in passages:
            yield from (each.lead, each.name, each.alt, each.text)


def _of_rules() -> Iterator[str]:
    for rule in legal.rules().values():
        yield from (rule.title, rule.where, *rule.statements)


def _of_methods() -> Iterator[str]:
    for method in METHODS.values():
        yield from (method.title, method.short_title, method.sentence, method.tells, method.cannot)
        for option in options_of(method.options):
            yield from (option.title, option.help)


if __name__ == "__main__":
    main()
