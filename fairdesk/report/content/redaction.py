"""What a report that goes to strangers leaves out of single people, and how it says so.

Two ways. *synthetic*: only invented people are shown, none of whom is like a row of the data. In
*bands*: numbers are shown as bands of the data's values, and nobody whose bands only a few rows
have. Both quote no text that somebody wrote, no name that only a few rows have, no group of a few
people, and none of the auditor's notes: they may quote any of it. What stands in a sentence, as in
a constraint or a feature, is looked for there.

This keeps a reader from finding a row in the report. It is no proof of anonymity: who knows the
model, or sets several tables beside each other, may still learn something about somebody.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, assert_never

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.details import Redaction, TemplateKey
from fairdesk.audit.store.records import LogEntry, LogKind, Pair, RunRecord
from fairdesk.data.domain.attributes import Attribute
from fairdesk.data.table import Column, Kind, Table
from fairdesk.models.model import Input
from fairdesk.repeatability import Repeatability
from fairdesk.results.events import Metric, Rows
from fairdesk.results.groups import GroupGap, GroupTable
from fairdesk.results.individual import ExcessChange, GradientFidelity, Share
from fairdesk.results.mitigation import Repair, Trial
from fairdesk.results.proofs import PairShare, Proven, Refinement, Region
from fairdesk.results.subgroups import LinearGroup, RuleSearchSummary, RuleSet, TermRate
from fairdesk.wording.language import fixed, localised, say

#: What fewer rows than this have in common is not told; `SENTENCES` say so with this number.
FEWEST = 5
#: Into so many bands a number is divided at most.
BANDS = 5
OTHER, TEXT, WHOLE = fixed(("other (few rows)", "a text, left out", "any value"))
LEFT_OUT = "Something about a single pair; it stands in the audit file."
NAMED = "Something with a name that few rows have; it stands in the audit file."

#: What is about single pairs in the log.
_OF_PAIRS: tuple[LogKind, ...] = ("marked", "learned")
#: What in a manifest tells how names of the data are taken.
_NAMING = ("codes", "hints", "names", "domain_file", "map_file")
#: What in a manifest may speak of names of the data, and what in it is no speech.
_SPEAKING = ("spec", "runs", "commands")
_SILENT = ("sha256", "state", "method", "kind", "role", "how", "type", "started", "ended")
#: A word; a name of fewer letters is looked for in texts only where it is in quotes.
_WORD = re.compile(r"[^\W_]+")
_SHORTEST = 3
_QUOTES = "“”\"'`‘’"
#: What is said of each way.
SENTENCES: dict[Redaction, str] = fixed(
    {
        "none": "",
        "synthetic": (
            "Only invented people are shown, each of whom differs from every row of the data also "
            "in something that is not protected. Left out are texts that people wrote; names that "
            "fewer than 5 rows have, and from tables of outcomes groups of 1 to 4 people, but "
            "where a law asks for every category; the auditor’s notes on pairs; and what the log "
            "says of single pairs, or with such a name. What the auditor filled in stands as it "
            "was written. The range of each number is told, and which numbers are compared or a "
            "rule is about. Several tables together, or the model itself, may still tell "
            "something of somebody."
        ),
        "bands": (
            "Numbers of people are shown in bands that hold at least 5 rows each, and nobody is "
            "shown whose bands and names together 1 to 4 rows have. Left out are texts that people "
            "wrote; names that fewer than 5 rows have, and from tables of outcomes groups of 1 to "
            "4 people, but where a law asks for every category; the auditor’s notes on pairs; and "
            "what the log says of single pairs, or with such a name. What the auditor filled in "
            "stands as it was written. The range of each number is told, and which numbers are "
            "compared or a rule is about. Several tables together, or the model itself, may still "
            "tell something of somebody."
        ),
    }
)
#: The same in a few words.
SHORT: dict[Redaction, str] = fixed(
    {"none": "", "synthetic": "only invented ones are shown", "bands": "shown in bands"}
)


class Shown:
    """What may be told of the people of an audit.

    Parameters
    ----------
    kind : str
        As in `fairdesk.audit.store.details.Choice`.
    spec : AuditSpec
        The question.
    table : Table
        The audited data.
    """

    def __init__(self, kind: Redaction, spec: AuditSpec, table: Table) -> None:
        self.kind = kind
        self._domain = spec.domain
        self._table = table
        self._counted: dict[str, Counter[str]] = {}
        self._few: dict[str, frozenset[str]] = {}

    @property
    def whole(self) -> bool:
        """Whether nothing is left out."""
        return self.kind == "none"

    @property
    def sentence(self) -> str:
        """What is left out; empty for nothing."""
        return SENTENCES[self.kind]

    def hides(self, pair: Pair) -> bool:
        """Whether a pair is not to be shown: because it is a real person, or nearly one."""
        match self.kind:
            case "none":
                return False
            case "synthetic":
                return self._key(self._alike(pair.row)) in self._real
            case "bands":
                places = self._places(np.stack((pair.row, pair.partner)))
                counts = (
                    self._banded[part][self._key(one[columns])]
                    for part, columns in enumerate(self._parts)
                    for one in places
                )
                return any(0 < count < FEWEST for count in counts)

    def value(self, position: int, code: float) -> str:
        """Write a person's value of the domain's attribute at a position."""
        attribute = self._domain.attributes[position]
        if self.whole:
            return attribute.text(code)
        if attribute.values or attribute.kind is Kind.TEXT:
            return self.name(attribute, code)
        if self.kind == "bands":
            return band_text(self._edges[position], code, integral=attribute.integral)
        return attribute.text(code)

    def name(self, attribute: Attribute, code: float) -> str:
        """Write a value of an attribute, whoever has it; of names only those that may be named."""
        told = attribute.text(code)
        if self.whole:
            return told
        if attribute.kind is Kind.TEXT:
            return say(TEXT)
        return say(OTHER) if told in self._rare_of(attribute) else told

    def words(self, text: str, *, strict: bool = False) -> str:
        """Leave out of a text the names that may not be named.

        Parameters
        ----------
        text : str
            What somebody, or the program, wrote.
        strict : bool
            Whether names of one or two letters, and numbers, count too where no quotes are around
            them: in what speaks of nothing but values.
        """
        if self.whole:
            return text
        pieces, before = [], 0
        for start, end in self._mentions(text, strict=strict):
            pieces += [text[before:start], say(OTHER)]
            before = end
        return "".join((*pieces, text[before:]))

    def _mentions(self, text: str, *, strict: bool) -> Iterator[tuple[int, int]]:
        """Yield where in a text a name stands that may not be named."""
        found = list(_WORD.finditer(text))
        place = 0
        while place < len(found):
            lengths = self._spoken.get(found[place].group(), {})
            for length, names in lengths.items():
                some = found[place : place + length]
                if tuple(each.group() for each in some) not in names:
                    continue
                start, end = some[0].start(), some[-1].end()
                quoted = text[start - 1 : start] in _QUOTES and text[end : end + 1] in _QUOTES
                if strict or (quoted and start) or _telling(text[start:end]):
                    yield start, end
                    place += length - 1
                    break
            place += 1

    @cached_property
    def _spoken(self) -> dict[str, dict[int, set[tuple[str, ...]]]]:
        """The hidden names by their first word and how many words they have, the longest first."""
        spoken: dict[str, dict[int, set[tuple[str, ...]]]] = {}
        for name in sorted(self._hidden, key=lambda name: -len(_WORD.findall(name))):
            if said := tuple(_WORD.findall(name)):
                spoken.setdefault(said[0], {}).setdefault(len(said), set()).add(said)
        return spoken

    def values(self, column: Column) -> tuple[str, ...]:
        """Return the values of a column, or of an attribute, that may be named."""
        if self.whole:
            return column.values
        if column.kind in (Kind.TEXT, Kind.IGNORED):
            return ()
        return tuple(name for name in column.values if self._counts(column.name)[name] >= FEWEST)

    def input(self, one: Input) -> Input:
        """Return how a model input is made, without values that may not be named."""
        if self.whole:
            return one
        codes = {text: code for text, code in one.codes.items() if text not in self._hidden}
        return msgspec.structs.replace(one, name=self.words(one.name), codes=codes)

    def file(self, text: str) -> str:
        """Return a JSON file without values that may not be named; an empty text stays one."""
        if self.whole or not text:
            return text
        return msgspec.json.encode(self._nameless(msgspec.json.decode(text))).decode()

    def runs(self, runs: Iterable[RunRecord], template: TemplateKey) -> list[RunRecord]:
        """Return runs without what their figures quote of single people.

        A law may ask for tables of every category, however few people are in it.
        """
        cut = template != "ll144"
        return [
            msgspec.structs.replace(
                run,
                message=self.words(run.message),
                figures=tuple(self._figure(each, cut) for each in run.figures),
            )
            for run in runs
        ]

    def _figure(self, figure: Metric, cut: bool) -> Metric:  # noqa: FBT001 - of one caller
        if isinstance(figure, GroupTable):
            return self.table(figure) if cut else figure
        if self.whole:
            return figure
        match figure:
            case TermRate():
                return msgspec.structs.replace(figure, examples=())
            case LinearGroup():
                features = tuple(self.words(each, strict=True) for each in figure.features)
                return msgspec.structs.replace(figure, features=features)
            case RuleSearchSummary() | Proven():
                return msgspec.structs.replace(figure, notes=tuple(map(self.words, figure.notes)))
            case (
                Share()
                | Repeatability()
                | ExcessChange()
                | GroupGap()
                | GradientFidelity()
                | Region()
                | PairShare()
                | Refinement()
                | RuleSet()
                | Repair()
                | Trial()
            ):
                return figure
            case _:
                # whoever adds a figure says here what of it may be printed
                assert_never(figure)

    def table(self, table: GroupTable) -> GroupTable:
        """Return a table of groups without those of a few people.

        Where it is one group alone, whose figures are what the others leave of the whole, the next
        smallest goes as well.
        """
        keep = None if self.whole else _kept([line.people for line in table.lines])
        if keep is None:
            return table
        reference = keep.index(table.reference) if table.reference in keep else -1
        return msgspec.structs.replace(
            table, lines=tuple(table.lines[i] for i in keep), reference=reference
        )

    def log(self, entries: Sequence[LogEntry]) -> list[LogEntry]:
        """Return the log with nothing in some entries but when they were made.

        Those are the entries about single pairs, and those that name what may not be named.

        Their fingerprints stay, so that the chain's head is still that of the audit file; what they
        are of can be checked with that file alone.
        """
        if self.whole:
            return [*entries]
        return [
            msgspec.structs.replace(entry, what=why, told="")
            if (why := self._why(entry))
            else entry
            for entry in entries
        ]

    def _why(self, entry: LogEntry) -> str:
        """Say why an entry is left out; empty when it is not."""
        if entry.kind in _OF_PAIRS:
            return LEFT_OUT
        if entry.kind in ("details", "choice"):
            return ""
        # in what tells of the question every name counts, however short
        strict = entry.kind == "decided"
        for text in (entry.what, *_texts_of(entry.told)):
            if any(self._mentions(text, strict=strict)):
                return NAMED
        return ""

    def manifest(self, text: str) -> str:
        """Leave out of a manifest's JSON what the report leaves out, and say so in it.

        Wherever they stand: the values of columns and attributes, examples of texts, groups of a
        few people, entries about single pairs. What is left out of an entry of the log no longer
        has its fingerprint: that can be checked with the audit file alone.
        """
        if self.whole:
            return text
        document = {
            name: self._spoken_of(each) if name in _SPEAKING else each
            for name, each in self._without(msgspec.json.decode(text)).items()
        }
        document["redacted"] = self.sentence
        return msgspec.json.format(
            msgspec.json.encode(document, order="deterministic"), indent=1
        ).decode()

    def _spoken_of(self, node: Any, *, strict: bool = False) -> Any:  # noqa: ANN401 - any JSON
        """Leave names out of whatever text stands in JSON; what a column is called is none."""
        if isinstance(node, list):
            return [self._spoken_of(each, strict=strict) for each in node]
        if isinstance(node, dict):
            return {
                name: each
                if name in _SILENT
                else self._spoken_of(each, strict=strict or name == "constraints")
                for name, each in node.items()
            }
        if isinstance(node, str) and node not in self._table.names:
            return self.words(node, strict=strict)
        return node

    def _without(self, node: Any) -> Any:  # noqa: ANN401 - any JSON
        """Walk through JSON, and leave out what is known by its members."""
        if isinstance(node, list):
            return [self._without(each) for each in node]
        if not isinstance(node, dict):
            return node
        if {"at", "what", "kind"} <= node.keys():
            return self._entry(node)
        node = {
            name: self._nameless(each) if name in _NAMING else self._without(each)
            for name, each in node.items()
        }
        match node.get("type"):
            case "TermRate":
                node["examples"] = []
            case "GroupTable":
                node = _told_table(node)
        if {"delimiter", "columns"} <= node.keys():
            node["columns"] = {
                name: {member: each for member, each in reading.items() if member != "cells"}
                for name, reading in node["columns"].items()
            }
        if {"name", "kind", "values"} <= node.keys() and node["name"] in self._table.names:
            node = self._column(node)
        return node

    def _nameless(self, node: Any) -> Any:  # noqa: ANN401 - any JSON
        """Leave out of JSON, which may be a text once more, what may not be named."""
        if isinstance(node, list):
            return [self._nameless(each) for each in node if not self._is_hidden(each)]
        if isinstance(node, dict):
            return {
                name: self._spoken_of(each, strict=True)
                if name == "constraints"
                else self._nameless(each)
                for name, each in node.items()
                if name not in self._hidden
            }
        if isinstance(node, str) and node.startswith("{"):
            return msgspec.json.encode(self._nameless(msgspec.json.decode(node))).decode()
        return OTHER if self._is_hidden(node) else node

    def _entry(self, node: dict[str, Any]) -> dict[str, Any]:
        at, what, told_then = (str(node.get(name, "")) for name in ("at", "what", "told"))
        (told,) = self.log([LogEntry(at, what, node["kind"], told_then)])
        if told.what != node["what"]:
            return {**node, "what": told.what, "told": ""}
        try:
            fact = msgspec.json.decode(node["told"])
        except (KeyError, msgspec.DecodeError):
            return node
        kept = self._without(fact)
        return node if kept == fact else {**node, "told": msgspec.json.encode(kept).decode()}

    def _column(self, node: dict[str, Any]) -> dict[str, Any]:
        """Empty what a column's values tell of single rows."""
        column = Column(str(node["name"]), Kind(node["kind"]), tuple(map(str, node["values"])))
        # how single cells are written is told by how many there are
        node = {name: [] if name in ("odd", "garbled") else each for name, each in node.items()}
        if column.kind in (Kind.TEXT, Kind.IGNORED):
            return {**node, "values": [], "low": 0.0, "high": 0.0}
        # the last value of some attributes stands for a missing cell, and is no name
        told = {*self.values(column), *(column.values[-1:] if node.get("unknown") else ())}
        return {**node, "values": [name if name in told else OTHER for name in column.values]}

    @property
    def _parts(self) -> tuple[NDArray[np.intp], ...]:
        """What of a person is looked for in the data: everything, and what is not protected."""
        everything = np.arange(len(self._domain.attributes))
        return (everything, self._domain.others) if len(self._domain.others) else (everything,)

    def _alike(self, row: Rows) -> Rows:
        return row[..., self._parts[-1]]

    @staticmethod
    def _key(row: NDArray[np.generic]) -> bytes:
        # nought has two signs, which are equal and have other bytes
        return (row + 0).tobytes()

    @cached_property
    def _rows(self) -> Rows:
        return self._domain.encode(self._table)

    @cached_property
    def _real(self) -> frozenset[bytes]:
        return frozenset(self._key(row) for row in self._alike(self._rows))

    @cached_property
    def _edges(self) -> tuple[tuple[float, ...], ...]:
        """Per attribute where its bands begin; those of names are empty."""
        return tuple(
            () if attribute.values else band_edges(self._rows[:, i], integral=attribute.integral)
            for i, attribute in enumerate(self._domain.attributes)
        )

    def _places(self, rows: Rows) -> NDArray[np.float64]:
        """Bring people to what is shown of them: the number of a band, the code of a name."""
        places = np.array(rows, dtype=np.float64)
        for i, (attribute, edges) in enumerate(
            zip(self._domain.attributes, self._edges, strict=True)
        ):
            if not attribute.values:
                places[:, i] = np.searchsorted(edges, rows[:, i], side="right")
            elif attribute.kind is Kind.TEXT:
                places[:, i] = -1
            elif self._rare_codes[i]:
                places[np.isin(rows[:, i], self._rare_codes[i]), i] = -1
        return places

    def _is_hidden(self, value: object) -> bool:
        return isinstance(value, str) and value in self._hidden

    @cached_property
    def _hidden(self) -> frozenset[str]:
        """All values in the data that may not be named."""
        return frozenset(
            value
            for column in self._table.columns
            for value in {*column.values}.difference(self.values(column))
        ) | {
            text
            for column in self._table.columns
            for text, rows in (
                *((odd.text, odd.rows) for odd in column.odd),
                *((one.text, one.rows) for one in column.garbled),
            )
            if rows < FEWEST and text not in self.values(column)
        }

    @cached_property
    def _rare_codes(self) -> tuple[list[int], ...]:
        return tuple(
            [code for code, name in enumerate(attribute.values) if name in rare]
            for attribute, rare in zip(self._domain.attributes, self._rare, strict=True)
        )

    @cached_property
    def _banded(self) -> tuple[Counter[bytes], ...]:
        """How many rows have the same bands and names: in everything, and in all but protected."""
        places = self._places(self._rows)
        return tuple(
            Counter(self._key(row) for row in places[:, columns]) for columns in self._parts
        )

    def _counts(self, name: str) -> Counter[str]:
        """Count the rows that have each value of a column."""
        if name not in self._counted:
            self._counted[name] = Counter(self._table.counts(name))
        return self._counted[name]

    @cached_property
    def _rare(self) -> tuple[frozenset[str], ...]:
        """Per attribute the names that only a few rows have."""
        return tuple(map(self._rare_of, self._domain.attributes))

    def _rare_of(self, attribute: Attribute) -> frozenset[str]:
        """Give an attribute's names that only a few rows have; what stands for no value is none."""
        if attribute.name not in self._few:
            counts = self._counts(attribute.name)
            names = attribute.values[: -1 if attribute.unknown else None]
            self._few[attribute.name] = frozenset(name for name in names if counts[name] < FEWEST)
        return self._few[attribute.name]


#: What may be told while a report is made.
def _telling(name: str) -> bool:
    """Whether a name is long enough not to be met by chance."""
    return len(name) >= _SHORTEST and any(sign.isalpha() for sign in name)


def _texts_of(told: str) -> Iterator[str]:
    """Yield all texts in an entry's JSON, names of members too."""
    try:
        waiting = [msgspec.json.decode(told)] if told else []
    except msgspec.DecodeError:
        waiting = [told]
    while waiting:
        match waiting.pop():
            case str() as text:
                yield text
            case list() as several:
                waiting += several
            case dict() as members:
                waiting += [*members, *members.values()]


def band_edges(values: Rows, *, integral: bool) -> tuple[float, ...]:
    """Divide numbers into bands: give where each but the first begins.

    The borders are quantiles of the distinct values, rounded to a hundredth of the range at least,
    so that none is somebody's own number. Every band has at least `FEWEST` rows; the ends are open.

    Parameters
    ----------
    values : Rows
        ``(n,)``; NaN is not known.
    integral : bool
        Whether they are whole numbers.
    """
    known = values[~np.isnan(values)]
    if not len(known):
        return ()
    distinct = np.unique(known)
    step = 10.0 ** np.floor(np.log10(max(float(distinct[-1] - distinct[0]), 1e-12) / 20))
    step = max(step, 1.0) if integral else step
    wanted = np.quantile(distinct, np.arange(1, BANDS) / BANDS)
    edges: list[float] = []
    before = -np.inf
    for edge in dict.fromkeys((np.round(wanted / step) * step).tolist()):
        inside = int(((known >= before) & (known < edge)).sum())
        if inside >= FEWEST and int((known >= edge).sum()) >= FEWEST:
            # what rounding leaves behind the last decimal of a step is no part of the border
            edges.append(float(f"{edge:.12g}"))
            before = edge
    return tuple(edges)


def band_text(edges: Sequence[float], value: float, *, integral: bool) -> str:
    """Write the band that a number is in: ``under 30``, ``30 to 44``, ``60 or more``."""
    if not edges:
        return say(WHOLE)
    place = int(np.searchsorted(edges, value, side="right"))
    if place == 0:
        return say("under {number}", number=_number(edges[0]))
    low = _number(edges[place - 1])
    if place == len(edges):
        return say("{number} or more", number=low)
    if not integral:
        return say("{low} to under {high}", low=low, high=_number(edges[place]))
    last = edges[place] - 1
    return say("{low} to {high}", low=low, high=_number(last)) if last > edges[place - 1] else low


def _number(value: float) -> str:
    return localised(f"{value:,.10g}")


def _kept(people: Sequence[int]) -> list[int] | None:
    """Return the places of the groups that are shown; ``None`` for all."""
    few = {i for i, count in enumerate(people) if 0 < count < FEWEST}
    if not few:
        return None
    rest = [i for i in range(len(people)) if i not in few and people[i]]
    if len(few) == 1 and rest:
        few.add(min(rest, key=lambda i: people[i]))
    return [i for i in range(len(people)) if i not in few]


def _told_table(node: dict[str, Any]) -> dict[str, Any]:
    """Leave the groups of a few people out of a table's JSON."""
    lines, reference = node.get("lines", []), node.get("reference", -1)
    keep = _kept([line.get("people", 0) for line in lines])
    if keep is None:
        return node
    kept = keep.index(reference) if reference in keep else -1
    return {**node, "lines": [lines[i] for i in keep], "reference": kept}
