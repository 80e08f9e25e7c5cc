"""Pages of the documentation that are made from the code: methods, figures, limits and files."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import get_args

import msgspec

from fairdesk import file_types
from fairdesk.audit.catalogue.method import ASSUMPTIONS, PURPOSES, Method
from fairdesk.audit.catalogue.methods import METHODS, Option, options_of
from fairdesk.audit.plan.spec import AuditSpec, Limits, RunSpec
from fairdesk.audit.store.records import Details
from fairdesk.certify.proof.certificate import Header
from fairdesk.document.blocks import Report
from fairdesk.files import documentation
from fairdesk.manual import choosing
from fairdesk.manual.places import CHOICE, CONTENTS, option_place
from fairdesk.models.model import Mapping, ModelCard
from fairdesk.report.content.fields import FORM
from fairdesk.report.content.passages import TEMPLATES, passages
from fairdesk.report.provenance.manifest import Manifest
from fairdesk.report.render.html import formula
from fairdesk.results.events import Metric


def plain(text: str) -> str:
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


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write rows as a table; a bar in a cell would end it."""
    lines = ["| " + " | ".join(heads) + " |", "|" + " --- |" * len(heads)]
    lines += [
        "| " + " | ".join(re.sub(r"(?<!\\)\|", r"\\|", cell) or " " for cell in row) + " |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


SUBJECTS = {
    "people": "Individuals, pairs and shares",
    "plausibility": "Plausible pairs",
    "groups": "Groups",
    "comparisons": "Comparisons of groups",
    "errors": "Error rates",
    "rules": "Subgroups",
    "terms": "Identity terms",
    "mitigation": "Mitigation",
    "reweighing": "Reweighing",
}
LIMITS = {
    "records": "Recorded outcomes",
    "searches": "Searches",
    "rules": "Subgroup discovery",
    "terms": "Identity terms",
    "rates": "Group metrics",
    "proofs": "Certification",
    "mitigation": "Mitigation",
    "protected": "Protected attributes",
    "all": "Every audit",
}
#: What the texts of the limits leave open for the auditor's own words.
NEUTRAL = {"people": "individuals", "person": "individual", "where": ""}


def figures(draw: Callable[[str, str], str]) -> str:
    """Return a section for each subject.

    Parameters
    ----------
    draw : callable
        Draws a formula, given its key and what it says in words.
    """
    parts: list[str] = []
    places: set[str] = set()
    for subject, title in SUBJECTS.items():
        parts.append(f"## {title}\n")
        for each in passages("definitions")[subject]:
            if each.formula:
                # one formula may be of two subjects
                place = f"{each.formula}-{subject}" if each.formula in places else each.formula
                places.add(place)
                parts += [
                    f"### {each.name} {{ #{place} }}\n",
                    f"{draw(each.formula, each.alt)}\n",
                    f"In words: {plain(each.alt)}.\n",
                ]
            elif each.lead:
                parts.append(f"### {each.lead.rstrip('.')}\n")
            parts.append(f"{plain(each.text)}\n")
    return "\n".join(parts)


def limits() -> str:
    """Return what an audit cannot show, by what it contains."""
    parts = []
    for subject, title in LIMITS.items():
        parts.append(f"## {title}\n")
        for each in passages("limits")[subject]:
            lead, text = (part.format(**NEUTRAL) for part in (each.lead, each.text))
            parts.append(f"**{plain(lead)}** {plain(text)}\n")
    return "\n".join(parts)


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


def overview() -> str:
    """Return a table of all methods."""
    rows = [
        (f"[`{key}`](#{key})", method.title, PURPOSES[method.answers].title, method.description)
        for key, method in METHODS.items()
    ]
    return table(("Key", "Method", "Purpose", "What it does"), rows)


def methods() -> str:
    """Return a section for each method, with its options; each has an anchor."""
    parts = []
    for kind, purpose in PURPOSES.items():
        parts.append(f"## {purpose.title}\n")
        parts.append(f"{purpose.question}\n")
        parts += [_method(each) for each in METHODS.values() if each.answers is kind]
    return "\n".join(parts)


def _method(method: Method) -> str:
    facts = (
        ("What it shows", method.shows),
        ("What it cannot show", method.cannot),
        ("Source", method.paper),
        ("Cost", f"{method.cost[:1].upper()}{method.cost[1:]}."),
        ("Needs", method.needed),
        ("Assumes", ASSUMPTIONS[method.repeats]),
        ("In parallel", method.division.sentence),
    )
    options = [
        (
            f'<a id="{_anchor(method, each)}"></a>`{each.name}`',
            f"**{each.title}.** {each.help}",
            each.takes,
            f"{each.default}",
        )
        for each in options_of(method.options)
    ]
    return "\n".join(
        (
            f"### {method.title} {{ #{method.key} }}\n",
            f"`{method.command}`\n",
            f"{method.description}\n",
            *(f"{name}\n:   {plain(text)}\n" for name, text in facts),
            table(("Option", "Meaning", "Values", "Default"), options),
        )
    )


def _anchor(method: Method, option: Option) -> str:
    return option_place(method.key, option.name).partition("#")[2]


def pages(commands: str, draw: Callable[[str, str], str] = formula) -> dict[str, str]:
    """Return the pages by their places, in the order of the contents.

    Parameters
    ----------
    commands : str
        What the page of the command line shows of the commands.
    draw : callable
        Draws a formula, given its key and what it says in words; MathML unless given.
    """
    made = {
        CHOICE: {"questions": choosing.questions_page(), "sources": choosing.sources_page()},
        "reference/methods.md": {"overview": overview(), "methods": methods()},
        "reference/figures.md": {"figures": figures(draw)},
        "reference/limits.md": {"limits": limits()},
        "reference/command-line.md": {"commands": commands},
        "reference/file-formats.md": {"unopened": unopened()},
        "reference/json.md": members(),
    }
    folder = documentation()
    return {
        place: _filled(folder / f"{place}.in", made[place])
        if place in made
        else (folder / place).read_text(encoding="utf-8")
        for chapter in CONTENTS
        for place in chapter.pages
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
