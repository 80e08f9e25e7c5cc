"""What only people can tell of a report: the fields, what is missing of them, a file of them."""

from __future__ import annotations

import codecs
import difflib
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from fairdesk.audit.store.records import Categories, Details, Signer, TemplateKey
from fairdesk.document.blocks import Fact
from fairdesk.errors import ReportError, system_errors
from fairdesk.report.render.logo import check_logo
from fairdesk.wording import words
from fairdesk.wording.language import date_text

Kind = Literal["line", "text", "date", "choice"]
Group = Literal[
    "Cover",
    "System and use",
    "Data",
    "Categories",
    "Limitations",
    "EU AI Act, Annex IV",
    "Model card",
]


class Condition(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A field is asked for only when another one is one of these."""

    key: str
    among: tuple[str, ...]


class Field(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question to the auditor.

    Attributes
    ----------
    key : str
        Its name in `fairdesk.audit.store.records.Details.texts`.
    label : str
        What the form calls it.
    help : str
        What belongs there, a sentence or two.
    group : str
        The heading below which the form and the completeness list show it.
    kind : str
        A ``"line"``, a ``"text"`` of several, a ``"date"`` (ISO), or a ``"choice"``.
    choices : tuple[str, ...]
        What can be chosen.
    used_by, required_by : tuple[TemplateKey, ...]
        The templates that print it, and those that cannot be final without it.
    example : str
        Shown while it is empty.
    when : Condition, optional
        Asked for only then.
    """

    key: str
    label: str
    help: str
    group: Group
    kind: Kind = "line"
    choices: tuple[str, ...] = ()
    used_by: tuple[TemplateKey, ...] = ("plain", "ll144", "annex-iv", "model-card")
    required_by: tuple[TemplateKey, ...] = ()
    example: str = ""
    when: Condition | None = None


def _read() -> tuple[Field, ...]:
    """Return all questions, in the order of the form; their group is their table's name."""
    held = Path(__file__).with_name("form.toml").read_bytes()
    groups = msgspec.toml.decode(held, type=dict[Group, list[dict[str, Any]]])
    return tuple(
        msgspec.convert({"group": group, **asked}, Field)
        for group, questions in groups.items()
        for asked in questions
    )


#: All of them, in the order of the form.
FORM = _read()


T = TypeVar("T")
#: By their keys, in the order of the form.
#: What stands before the names of empty fields: “missing” would be read of the data.
TO_FILL_IN = "To be filled in, required"
_IF_KNOWN = "To be filled in"
FIELDS = {field.key: field for field in FORM}
#: The templates that cannot be final before somebody is named to sign.
SIGNED: tuple[TemplateKey, ...] = ("annex-iv",)
#: What a file of details can hold beside the fields.
_BESIDE = ("signers", "categories", "logo")
#: Letters and a symbol by Unicode's categories that are blank: fillers of Hangul, empty Braille.
_BLANK_LETTERS = "\u115f\u1160\u2800\u3164\uffa0"
#: A file of details, and a picture, are refused beyond so many bytes.
_LARGEST = 4_000_000
#: What they are called, by their keys.
LABELS = {key: field.label for key, field in FIELDS.items()}


def fields_of(template: TemplateKey) -> tuple[Field, ...]:
    """Return the fields that a template prints, in the order of the form."""
    return tuple(field for field in FIELDS.values() if template in field.used_by)


def asked(field: Field, details: Details) -> bool:
    """Whether a field is asked for at all, after what the others say."""
    when = field.when
    return when is None or filled_in(details, when.key) in when.among


def filled_in(details: Details, key: str) -> str:
    """Return what was filled in under a key, as it can be seen; empty when nothing can be."""
    return seen(details.texts.get(key, ""))


def seen(text: str) -> str:
    """Return a text without spaces around it; empty where nothing of it can be seen.

    Signs that only direct others, and letters that are blank, are nothing to be seen.
    """
    visible = any(
        unicodedata.category(sign)[0] in "LNPS" and sign not in _BLANK_LETTERS for sign in text
    )
    return text.strip() if visible else ""


def missing(template: TemplateKey, details: Details) -> tuple[Field, ...]:
    """Return the fields that are empty and without which a template's report cannot be final."""
    return tuple(
        field
        for field in fields_of(template)
        if template in field.required_by
        and asked(field, details)
        and not filled_in(details, field.key)
    )


def unsigned(template: TemplateKey, details: Details) -> bool:
    """Whether a template asks for somebody to sign, and nobody is named."""
    return template in SIGNED and not any(seen(signer.name) for signer in details.signers)


def fault(field: Field, text: str) -> str:
    """Say what is wrong with a text for a field, a sentence; empty when nothing is.

    An empty text is no fault: see `missing`.
    """
    said = seen(text)
    if not said:
        return ""
    if field.kind == "date" and not _is_date(said):
        return f"“{said}” is not a date: write year, month and day as in {field.example}."
    if field.kind == "choice" and said not in field.choices:
        known = ", ".join(f"“{choice}”" for choice in field.choices)
        return f"“{said}” is not one of the choices: {known}."
    return ""


def _is_date(text: str) -> bool:
    try:
        # the standard library also takes 20261120 and 2026-W47-5
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def written(field: Field, details: Details) -> str:
    """Return what was filled in, as a report shows it; empty for nothing, or if it is not asked."""
    text = filled_in(details, field.key)
    if not text or not asked(field, details):
        return ""
    if field.kind == "date" and _is_date(text):
        return date_text(datetime.fromisoformat(text))
    return text


def facts(
    fields: Iterable[Field], template: TemplateKey, details: Details, *, final: bool
) -> tuple[Fact, ...]:
    """Return what was filled in, for a report.

    A draft names last what is empty: a draft is its own list of what is to be done.
    """
    found, empty = [], []
    for field in fields:
        if text := written(field, details):
            found.append(Fact(field.label, text))
        elif not final and asked(field, details):
            empty.append(field)
    return (*found, *still_to_do(empty, template))


def still_to_do(empty: Sequence[Field], template: TemplateKey) -> Iterator[Fact]:
    """Name the empty fields, those apart without which the report cannot be final."""
    for title, required in ((TO_FILL_IN, True), (_IF_KNOWN, False)):
        named = [each.label for each in empty if (template in each.required_by) is required]
        if named:
            yield Fact(title, "; ".join(named))


def read_details(path: Path) -> Details:
    """Read a JSON file of what the auditor fills in.

    An object with the keys of `FIELDS`, each a text, and, where wanted, ``signers`` (objects with
    ``name``, ``role``, ``date``), ``categories`` (as in `fairdesk.audit.store.records.Categories`)
    and ``logo`` (the path of a picture, as seen from the file).

    Raises
    ------
    ReportError
        When it cannot be read, has a key that nobody knows, or a value that cannot be.
    """
    held = _object(path)
    _refuse_unknown(path, held)
    texts = {key: _text(path, FIELDS[key], held[key]) for key in FIELDS if key in held}
    logo = _converted(path, "logo", held.get("logo", ""), str)
    return Details(
        texts={key: text for key, text in texts.items() if text},
        signers=_converted(path, "signers", held.get("signers", []), tuple[Signer, ...]),
        categories=_converted(path, "categories", held.get("categories", {}), Categories),
        logo=read_logo(path.parent / logo) if logo else b"",
    )


def _object(path: Path) -> dict[str, Any]:
    # some editors put a mark of the encoding first
    content = _content(path, _LARGEST).removeprefix(codecs.BOM_UTF8)
    try:
        return msgspec.json.decode(content, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ReportError(
            f"“{path.name}” is not a file of report details.",
            why=f"It is not a JSON object: {error}",
            remedy='Write it as {"system": "...", "auditor": "..."}, with text in quotes.',
        ) from error


def _content(path: Path, largest: int) -> bytes:
    with system_errors(
        ReportError,
        f"“{path}” cannot be read.",
        "Check the path and your permission to read the file.",
    ):
        if path.stat().st_size > largest:
            raise ReportError(
                f"“{path.name}” is too large.",
                why=f"It is larger than {largest // 1_000_000} million bytes.",
                remedy="Choose a smaller file.",
            )
        return path.read_bytes()


def _refuse_unknown(path: Path, held: dict[str, Any]) -> None:
    known = (*FIELDS, *_BESIDE)
    strange = [key for key in held if key not in known]
    if not strange:
        return
    near = dict.fromkeys(
        name for key in strange for name in difflib.get_close_matches(key, known, n=2)
    )
    meant, wrong = ([*map(words.in_quotes, names)] for names in (near, strange))
    remedy = f"Did you mean {words.joined(meant, 'or')}? " if meant else ""
    raise ReportError(
        f"“{path.name}” has {words.joined(wrong)}, which no report uses.",
        why="A misspelt name would be ignored without notice, so nothing was read.",
        remedy=f"{remedy}The names are: {', '.join(known)}.",
    )


def _text(path: Path, field: Field, value: object) -> str:
    wrong = fault(field, value) if isinstance(value, str) else "It is not text."
    if wrong:
        raise ReportError(
            f"“{field.key}” in “{path.name}” cannot be used.",
            why=wrong,
            remedy=f"{field.label}: {field.help}",
        )
    lines = str(value).strip().splitlines()
    return ("\n" if field.kind == "text" else " ").join(lines)


def _converted(path: Path, key: str, value: object, kind: type[T]) -> T:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise ReportError(
            f"“{key}” in “{path.name}” cannot be used.", why=f"{error}.", remedy=_SHAPES[key]
        ) from error


_SHAPES = {
    "signers": 'Write a list like [{"name": "...", "role": "...", "date": "..."}].',
    "categories": 'Write an object like {"sex": "column", "race": "column", "names": {}}.',
    "logo": "Write the path of an SVG, PNG or JPEG picture.",
}


def read_logo(path: Path) -> bytes:
    """Read a picture for the cover, and try it: an SVG, PNG or JPEG that can be drawn.

    Raises
    ------
    ReportError
        When it cannot be read, or is no such picture.
    """
    content = _content(path, _LARGEST)
    check_logo(content, f"“{path.name}”")
    return content
