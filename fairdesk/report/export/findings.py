"""Every found pair as a file: a table for spreadsheets, and JSON for programs.

Both are written column by column: a code's text is made once, and no object is made of a pair.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.finding_table import PairColumns
from fairdesk.audit.store.pair import FIELDS, FIRST, Kind, sides
from fairdesk.audit.store.records import PairQuery
from fairdesk.audit.store.store import Store
from fairdesk.data.domain.attributes import Attribute
from fairdesk.models.decisions.rule import own_number
from fairdesk.report.export.tables import beside, guarded, plain
from fairdesk.report.writing import replacing
from fairdesk.results.events import Rows
from fairdesk.wording.decisions import class_texts
from fairdesk.wording.words import protected_names

#: What is written of a pair, in this order; beside it the method of its run, in this place.
_EXPORTED = {name: field for name, field in FIELDS.items() if field.export}
_METHOD = 2
_MEMBERS = {field.member or field.export: sides(name) for name, field in _EXPORTED.items()}
#: Texts that are kept of one column's values: of a column of fractions there may be any number.
_MOST_TEXTS = 100_000

_encode = msgspec.json.Encoder(order="deterministic").encode


def write_findings_csv(store: Store, path: Path) -> None:
    """Write every pair as one row, for a spreadsheet: UTF-8 with a byte order mark, commas.

    Columns: ``pair``, ``run``, ``method``, ``phase``, every attribute of the person in the
    data's own values (a missing cell as the file has it), for each attribute in which the two of a
    pair may differ ``"<name> (counterfactual)"`` with the value of the other person, then what else
    is exported of a pair (`PairField.export`), with ``(counterfactual)`` that of its partner:
    scores are of the favourable outcome, ``enough alone`` lists the protected attributes of which
    one change is enough. What is not known is empty. Cells that a spreadsheet would run are
    guarded.

    Raises
    ------
    ReportError
        When the file cannot be written.
    """
    spec = store.spec
    methods = {run.id: run.spec.method for run in store.runs()}
    compared = spec.domain.differing
    first = [name for name in _EXPORTED if name in FIRST]
    rest = [name for name in _EXPORTED if name not in FIRST]
    heads = _heads(first)
    heads.insert(_METHOD, "method")
    others = [f"{spec.domain.names[i]} (counterfactual)" for i in compared.tolist()]
    own = beside(spec.domain.names, [*heads, *others, *_heads(rest)])
    header = [*own[: len(heads)], *spec.domain.names, *own[len(heads) :]]
    texts = [_Texts(partial(_code_cell, *each)) for each in _with_tokens(spec)]
    cells = _Fields(store, _cell, _number_cells)
    with replacing(path) as draft, draft.open("w", encoding="utf-8", newline="") as stream:
        # the mark itself: the codec that writes it takes a tenth of a second per 50,000 rows
        stream.write("\ufeff")
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([guarded(name) for name in header])
        for pairs in store.each_columns(PairQuery(run=None)):
            begin = [cells.of(pairs, name) for name in first]
            begin.insert(_METHOD, [methods[run] for run in pairs.fields["run"]])
            writer.writerows(
                zip(
                    *begin,
                    *_spelt(texts, pairs.rows),
                    *_spelt([texts[i] for i in compared.tolist()], pairs.partners[:, compared]),
                    *(cells.of(pairs, name) for name in rest),
                    strict=True,
                )
            )


def write_findings_json(store: Store, path: Path) -> None:
    """Write the question, the runs and every pair as one JSON object; pairs are streamed.

    Its members: ``spec``, ``guessed_codes`` (columns whose numbers are only guessed), ``runs``,
    ``pairs``. A pair has ``instance`` (attribute to value: a
    number, the data's own text, null for an empty cell), ``counterfactual`` (its values of what
    may differ: protected attributes, and what follows these), and what else is exported of a pair
    (`PairField.member`): what there is of both as ``[instance's, counterfactual's]``, and null for
    what is not known.

    Raises
    ------
    ReportError
        When the file cannot be written.
    """
    spec = store.spec
    template, places = _pair_template(spec)
    texts = [_Texts(partial(_code_json, *each)) for each in _with_tokens(spec)]
    values = _Fields(store, _json, _json_numbers)

    def column(pairs: PairColumns, member: str, place: str | int) -> Iterable[str | float | None]:
        if isinstance(place, int):
            rows = pairs.rows if member == "instance" else pairs.partners
            return map(texts[place].__getitem__, rows[:, place].tolist())
        return values.of(pairs, place)

    with replacing(path) as draft, draft.open("wb") as stream:
        stream.write(b'{"spec":' + _encode(spec))
        stream.write(b',"guessed_codes":' + _encode(spec.mapping.guessed))
        stream.write(b',"runs":' + _encode(store.runs()))
        stream.write(b',"pairs":[')
        separator = b"\n"
        for pairs in store.each_columns(PairQuery(run=None)):
            rows = zip(*(column(pairs, *place) for place in places), strict=True)
            stream.write(separator + ",\n".join([template % row for row in rows]).encode())
            separator = b",\n"
        stream.write(b"\n]}\n")


class _Texts(dict[Any, str]):
    """The texts of the values of a column, each made once."""

    def __init__(self, text: Callable[[Any], str]) -> None:
        super().__init__()
        self._text = text

    def __missing__(self, value: object) -> str:
        if len(self) >= _MOST_TEXTS:
            self.clear()
        text = self[value] = self._text(value)
        return text


def _spelt(texts: Sequence[_Texts], rows: Rows) -> Iterator[Iterable[str]]:
    """Write codes, ``(n, m)``, column by column."""
    for column, codes in zip(texts, rows.T, strict=True):
        yield map(column.__getitem__, codes.tolist())


class _Fields:
    """Writes the fields of pairs.

    Parameters
    ----------
    numbers : callable
        Writes numbers, of which few are equal, given the kind of their field.
    """

    def __init__(
        self,
        store: Store,
        one: Callable[[Any], str],
        numbers: Callable[[Sequence[float | None], Kind], Iterable[str | float | None]],
    ) -> None:
        self._spec, self._numbers = store.spec, numbers
        decisions = class_texts(self._spec, store.table())
        names = protected_names(self._spec.domain)
        self._decisions = _Texts(lambda place: one(decisions[place]))
        self._attributes = _Texts(
            lambda bits: one([name for i, name in enumerate(names) if bits >> i & 1])
        )
        self._truths = _Texts(lambda truth: one(None if truth is None else bool(truth)))
        self._others = _Texts(one)

    def of(self, pairs: PairColumns, name: str) -> Iterable[str | float | None]:
        """Write a field of some pairs as it leaves the audit: scores in the model's own numbers."""
        values, kind = pairs.fields[name], FIELDS[name].kind
        match kind:
            case "decision":
                return map(self._decisions.__getitem__, values)
            case "attributes":
                return map(self._attributes.__getitem__, values)
            case "score":
                mapping, model = self._spec.mapping, self._spec.model
                return self._numbers([own_number(score, mapping, model) for score in values], kind)
            case "truth":
                return map(self._truths.__getitem__, values)
            case "number" | "distance" | "share":
                return self._numbers(values, kind)
            case _:
                return map(self._others.__getitem__, values)


def _cell(value: str | int | list[str] | None) -> str:
    """Write a value for a spreadsheet; texts guarded, nothing for what is not known."""
    if isinstance(value, list):
        value = ", ".join(value)
    return guarded(value) if isinstance(value, str) else plain(value)


def _number_cells(values: Sequence[float | None], kind: Kind) -> Iterable[str | float | None]:
    if kind == "number":
        return values
    text = "%.9g" if kind == "score" else "%.4g"
    return ["" if value is None else text % value for value in values]


def _json(value: Any) -> str:  # noqa: ANN401 - whatever a field holds
    return _encode(value).decode()


def _json_numbers(values: Sequence[float | None], _kind: Kind) -> Iterable[str]:
    return _json(values)[1:-1].split(",")


def _heads(names: Iterable[str]) -> list[str]:
    """Name the columns of fields."""
    return [
        FIELDS[name].export + (" (counterfactual)" if name != sides(name)[0] else "")
        for name in names
    ]


def _pair_template(spec: AuditSpec) -> tuple[str, list[tuple[str, str | int]]]:
    """Return a pair as JSON with ``%s`` for its values, in the order of its members' names.

    Returns
    -------
    template : str
        What the values are put into.
    places : list of tuple
        Which value each is: its member, and a field's name or an attribute's position.
    """
    names = spec.domain.names
    places: list[tuple[str, str | int]] = []

    def people(member: str, positions: Iterable[int]) -> str:
        ordered = sorted(positions, key=names.__getitem__)
        places.extend((member, position) for position in ordered)
        return "{" + ",".join(f"{_key(names[position])}:%s" for position in ordered) + "}"

    def value(member: str) -> str:
        if member == "instance":
            return people(member, range(len(names)))
        if member == "counterfactual":
            return people(member, spec.domain.differing.tolist())
        fields = _MEMBERS[member]
        places.extend((member, name) for name in fields)
        return "%s" if len(fields) == 1 else f"[{','.join(['%s'] * len(fields))}]"

    members = sorted(("instance", "counterfactual", *_MEMBERS))
    return "{" + ",".join(f"{_key(member)}:{value(member)}" for member in members) + "}", places


def _key(name: str) -> str:
    return _json(name).replace("%", "%%")


def _with_tokens(spec: AuditSpec) -> Iterator[tuple[Attribute, str]]:
    """Yield the attributes, each with the text of its missing cells in the file."""
    tokens = {column.name: column.missing_token for column in spec.columns}
    for attribute in spec.domain.attributes:
        yield attribute, tokens.get(attribute.name, "")


def _value(attribute: Attribute, token: str, code: float) -> str | int | float | None:
    """Return a code's value: numbers as numbers, names as the data's own text.

    A missing cell is as it stands in the file, however the audit calls it: None where it is empty.
    """
    if attribute.unknown and code == attribute.unknown_code:
        return token or None
    if attribute.numeric:
        text = attribute.text(code)
        return int(text) if text.lstrip("-").isdigit() else float(text)
    if attribute.values:
        return attribute.text(code)
    return int(code) if attribute.integral else code


def _code_cell(attribute: Attribute, token: str, code: float) -> str:
    """Write a code as a cell: exact, with a decimal point; texts guarded."""
    value = _value(attribute, token, code)
    return guarded(value or "") if isinstance(value, str | None) else str(value)


def _code_json(attribute: Attribute, token: str, code: float) -> str:
    return _json(_value(attribute, token, code))
