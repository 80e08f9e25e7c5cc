"""What is said on the pages about files: which are not opened, and the members of JSON."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import get_args

import msgspec

from fairdesk import file_types
from fairdesk.audit.plan.plan import Limits
from fairdesk.audit.plan.spec import AuditSpec, RunSpec
from fairdesk.audit.store.details import Details
from fairdesk.certify.proof.certificate import Header
from fairdesk.document.blocks import Report
from fairdesk.manual.reference.markup import plain, table
from fairdesk.models.model import Mapping, ModelCard
from fairdesk.report.content.form import FORM
from fairdesk.report.content.kinds import TEMPLATES
from fairdesk.report.provenance.manifest import Manifest
from fairdesk.results.events import Metric


def unopened() -> str:
    """Return a table of the files that are recognised and not opened."""
    rows = [
        (each.what, each.as_model, each.as_table)
        for each in vars(file_types).values()
        if isinstance(each, file_types.Recognised) and not each.opens and not each.unpacks
    ]
    return table(("File", "Chosen as the model", "Chosen as the table"), sorted(set(rows)))


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
    return table(("Key", "Name", "What belongs there", "Required by"), rows)


def members() -> dict[str, str]:
    """Return what each JSON file holds; what several hold is described where it comes first."""
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
        found = [each for struct in structs for each in reached(struct, seen)]
        made[name] = "\n".join(part for struct in found for part in _struct(struct))
    made["fields"] = _fields()
    return made


def reached(kind: object, seen: set[type[msgspec.Struct]]) -> Iterator[type[msgspec.Struct]]:
    """Yield the structs in a type that were not seen before, each before those in its members."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        if kind in seen:
            return
        seen.add(kind)
        yield kind
        for field in msgspec.structs.fields(kind):
            yield from reached(field.type, seen)
    for part in get_args(kind):
        yield from reached(part, seen)


def _struct(struct: type[msgspec.Struct]) -> Iterator[str]:
    config = struct.__struct_config__
    about, meanings = _documented(struct)
    # what is in a file has the name that it has there
    name = config.tag if isinstance(config.tag, str) else struct.__name__
    yield f"### {name} {{ #{name.lower()} }}\n"
    if config.tag is not None:
        yield f'`"{config.tag_field}": "{config.tag}"`\n'
    yield f"{about}\n"
    rows = [
        (f"`{each.encode_name}`", _type(each.type), meanings.get(each.name, ""))
        for each in msgspec.structs.fields(struct)
    ]
    if rows:
        yield table(("Member", "Type", "Meaning"), rows)


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
    meanings: dict[str, str] = {}
    names: list[str] = []
    for line in rest.splitlines():
        if line and not line.startswith(" "):
            names = [name.strip() for name in line.partition(" : ")[0].split(",")]
        elif line.strip():
            for name in names:
                meanings[name] = f"{meanings.get(name, '')} {line.strip()}".strip()
    return plain(about), {name: plain(text) for name, text in meanings.items()}
