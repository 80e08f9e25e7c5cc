"""The reference pages of the documentation, made of what FairDesk itself says (a hook of MkDocs).

Methods and their options come from the catalogue, formulas and limits from the report's own texts,
options of commands from their parsers, members of JSON from the structs that are written. Nothing
of it is written down a second time: where a text reads badly, it is mended where it stands.
"""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import msgspec

from fairdesk import file_types
from fairdesk.audit.catalogue.method import ASSUMPTIONS, PURPOSES, Method
from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.catalogue.options import options_of
from fairdesk.audit.plan.plan import Limits
from fairdesk.audit.plan.spec import AuditSpec, RunSpec
from fairdesk.audit.store.details import Details
from fairdesk.certify.proof.certificate import Header
from fairdesk.cli.commands import COMMANDS
from fairdesk.cli.methods import command_of
from fairdesk.models.model import Mapping, ModelCard
from fairdesk.report.blocks import Report
from fairdesk.report.content.form import FORM
from fairdesk.report.content.kinds import TEMPLATES
from fairdesk.report.content.passages import passages
from fairdesk.report.provenance.manifest import Manifest
from fairdesk.report.render.html import formula
from fairdesk.results.events import Metric

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

DOCS = Path(__file__).resolve().parents[1] / "docs"
ICON = Path(__file__).resolve().parents[1] / "resources" / "icons" / "fairdesk.svg"
SUBJECTS = {
    "people": "Individuals, pairs and shares",
    "groups": "Groups",
    "comparisons": "Comparisons of groups",
    "errors": "Error rates",
    "rules": "Subgroups",
    "mitigation": "Mitigation",
    "reweighing": "Reweighing",
}
LIMITS = {
    "searches": "Searches",
    "rules": "Subgroup discovery",
    "rates": "Group metrics",
    "proofs": "Certification",
    "mitigation": "Mitigation",
    "all": "Every audit",
}
#: Characters in a line of the commands' help.
WIDTH = 80
#: What the texts of the limits leave open for the auditor's own words.
NEUTRAL = {"people": "individuals", "person": "individual", "where": ""}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of the reference, and FairDesk's icon."""
    from mkdocs.structure.files import File  # noqa: PLC0415 - tests make pages without MkDocs

    for name, text in pages().items():
        files.append(File.generated(config, name, content=text))
    files.append(File.generated(config, "pictures/fairdesk.svg", abs_src_path=str(ICON)))
    return files


def on_post_build(config: MkDocsConfig) -> None:
    """Write what is searched as a script too: pages that are opened as files can read no JSON."""
    folder = Path(config.site_dir) / "search"
    index = (folder / "search_index.json").read_text(encoding="utf-8")
    (folder / "search_index.js").write_text(f"var __index = {index}", encoding="utf-8")


def pages() -> dict[str, str]:
    """Return the pages by their places: a page written by hand, with what is made put into it."""
    made = {
        "methods": {"overview": _overview(), "methods": _methods()},
        "figures": {"figures": _figures()},
        "limits": {"limits": _limits()},
        "command-line": {"commands": _commands()},
        "file-formats": {"unopened": _unopened()},
        "json": _json(),
    }
    return {
        f"reference/{name}.md": _filled(DOCS / "reference" / f"{name}.md.in", parts)
        for name, parts in made.items()
    }


def _filled(path: Path, parts: dict[str, str]) -> str:
    """Put parts into the places of a page: lines like ``<!-- methods -->``."""
    text = path.read_text(encoding="utf-8")
    for name, part in parts.items():
        before, place, after = text.partition(f"<!-- {name} -->")
        if not place:
            raise ValueError(f"{path.name} has no place for “{name}”")
        text = before + part + after
    return text


# Methods


def _overview() -> str:
    rows = [
        (f"[`{key}`](#{key})", method.title, PURPOSES[method.answers].title, method.sentence)
        for key, method in METHODS.items()
    ]
    return _table(("Key", "Method", "Purpose", "What it does"), rows)


def _methods() -> str:
    parts = []
    for kind, purpose in PURPOSES.items():
        parts.append(f"## {purpose.title}\n")
        parts.append(f"{purpose.question}\n")
        parts += [_method(each) for each in METHODS.values() if each.answers is kind]
    return "\n".join(parts)


def _method(method: Method) -> str:
    facts = (
        ("What it shows", method.tells),
        ("What it cannot show", method.cannot),
        ("Source", method.paper),
        ("Cost", f"{method.cost[:1].upper()}{method.cost[1:]}."),
        ("Needs", method.needed),
        ("Assumes", ASSUMPTIONS[method.repeats]),
    )
    options = [
        (f"`{each.name}`", f"**{each.title}.** {each.help}", each.takes, f"{each.default}")
        for each in options_of(method.options)
    ]
    return "\n".join(
        (
            f"### {method.title} {{ #{method.key} }}\n",
            f"`{command_of(method)}`\n",
            f"{method.sentence}\n",
            *(f"{name}\n:   {_plain(text)}\n" for name, text in facts),
            _table(("Option", "Meaning", "Values", "Default"), options),
        )
    )


# Figures and limits


def _figures() -> str:
    parts = []
    for subject, title in SUBJECTS.items():
        parts.append(f"## {title}\n")
        for each in passages("definitions")[subject]:
            if each.formula:
                parts += [
                    f"### {each.name} {{ #{each.formula} }}\n",
                    f"{formula(each.formula, each.alt)}\n",
                    f"In words: {_plain(each.alt)}.\n",
                ]
            elif each.lead:
                parts.append(f"### {each.lead.rstrip('.')}\n")
            parts.append(f"{_plain(each.text)}\n")
    return "\n".join(parts)


def _limits() -> str:
    parts = []
    for subject, title in LIMITS.items():
        parts.append(f"## {title}\n")
        for each in passages("limits")[subject]:
            lead, text = (part.format(**NEUTRAL) for part in (each.lead, each.text))
            parts.append(f"**{_plain(lead)}** {_plain(text)}\n")
    return "\n".join(parts)


# Commands


def _commands() -> str:
    commands = argparse.ArgumentParser("fairdesk").add_subparsers()
    made = {}

    def add_parser(name: str, **about: Any) -> argparse.ArgumentParser:  # noqa: ANN401 - argparse's
        formatter = partial(argparse.HelpFormatter, width=WIDTH)
        made[name] = commands.add_parser(name, formatter_class=formatter, **about)
        return made[name]

    for add in COMMANDS:
        add(add_parser)
    return "\n".join(
        f"## fairdesk {name} {{ #{name} }}\n\n```text\n{parser.format_help()}```\n"
        for name, parser in made.items()
    )


# File formats and JSON


def _unopened() -> str:
    rows = [
        (each.what, each.as_model, each.as_table)
        for each in vars(file_types).values()
        if isinstance(each, file_types.Recognised) and not each.opens and not each.unpacks
    ]
    return _table(("File", "Chosen as the model", "Chosen as the table"), sorted(set(rows)))


def _fields() -> str:
    rows = [
        (
            f"`{field.key}`",
            field.label,
            field.help,
            ", ".join(f"`{key}`" for key in TEMPLATES if key in field.required_by),
        )
        for field in FORM
    ]
    return _table(("Key", "Name", "What belongs there", "Required by"), rows)


def _json() -> dict[str, str]:
    """Describe what each file holds; what several hold is described where it comes first."""
    held: dict[str, tuple[type[msgspec.Struct], ...]] = {
        "report": (Report,),
        "figures": get_args(Metric),
        "plan": (AuditSpec, RunSpec),
        "mapping": (Mapping, ModelCard),
        "limits": (Limits,),
        "details": (Details,),
        "manifest": (Manifest,),
        "certificate": (Header,),
    }
    seen: set[type[msgspec.Struct]] = set()
    made = {}
    for name, structs in held.items():
        found = [each for struct in structs for each in _reached(struct, seen)]
        made[name] = "\n".join(part for struct in found for part in _struct(struct))
    made["fields"] = _fields()
    return made


def _reached(kind: object, seen: set[type[msgspec.Struct]]) -> Iterator[type[msgspec.Struct]]:
    """Yield the structs in a type that were not seen before, each before those in its members."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        if kind in seen:
            return
        seen.add(kind)
        yield kind
        for field in msgspec.structs.fields(kind):
            yield from _reached(field.type, seen)
    for part in get_args(kind):
        yield from _reached(part, seen)


def _struct(struct: type[msgspec.Struct]) -> Iterator[str]:
    config = struct.__struct_config__
    about, meanings = _documented(struct)
    yield f"### {struct.__name__} {{ #{struct.__name__.lower()} }}\n"
    if config.tag is not None:
        yield f'`"{config.tag_field}": "{config.tag}"`\n'
    yield f"{about}\n"
    rows = [
        (f"`{each.encode_name}`", _type(each.type), meanings.get(each.name, ""))
        for each in msgspec.structs.fields(struct)
    ]
    if rows:
        yield _table(("Member", "Type", "Meaning"), rows)


def _type(kind: object) -> str:
    """Write a type as JSON has it."""
    text = kind.__name__ if isinstance(kind, type) and not get_args(kind) else str(kind)
    text = re.sub(r"\b(?:\w+\.)+(\w+)", r"\1", text)
    text = re.sub(r"Literal\[([^]]*)\]", lambda found: found[1].replace("', '", "' or '"), text)
    for python, json in (
        ("NoneType", "null"),
        ("None", "null"),
        ("tuple", "array"),
        ("list", "array"),
        ("dict", "object"),
        ("str", "string"),
        ("float", "number"),
        ("int", "integer"),
        ("bool", "true or false"),
        (", ...]", "]"),
        (" | ", " or "),
    ):
        text = re.sub(rf"\b{python}\b" if python.isalpha() else re.escape(python), json, text)
    return text


def _documented(struct: type[msgspec.Struct]) -> tuple[str, dict[str, str]]:
    """Read a docstring: what the struct is, and what each member means."""
    doc = inspect.cleandoc(struct.__doc__ or "")
    about, _, rest = doc.partition("\n\nAttributes\n----------\n")
    meanings, names = {}, []
    for line in rest.splitlines():
        if line and not line.startswith(" "):
            names = [name.strip() for name in line.partition(" : ")[0].split(",")]
        elif line.strip():
            for name in names:
                meanings[name] = f"{meanings.get(name, '')} {line.strip()}".strip()
    return _plain(about), {name: _plain(text) for name, text in meanings.items()}


# Markdown


def _plain(text: str) -> str:
    """Write a text of FairDesk as Markdown, in which nothing of it is taken for markup."""
    text = " ".join(text.split())
    parts = re.split(r"``([^`]*)``|`([^`]*)`", text)
    made = []
    for place in range(0, len(parts), 3):
        made.append(re.sub(r"([\\*_{}\[\]<>#|])", r"\\\1", parts[place]))
        code = next(filter(None, parts[place + 1 : place + 3]), "")
        if code:
            made.append(f"`{code}`")
    return "".join(made)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write rows as a table; a bar in a cell would end it."""
    lines = ["| " + " | ".join(heads) + " |", "|" + " --- |" * len(heads)]
    lines += [
        "| " + " | ".join(re.sub(r"(?<!\\)\|", r"\\|", cell) or " " for cell in row) + " |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"
