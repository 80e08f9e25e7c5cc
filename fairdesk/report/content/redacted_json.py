"""The manifest and other JSON files of a report, without what it leaves out of single people."""

from __future__ import annotations

from typing import Any

import msgspec

from fairdesk.audit.store.records import LogEntry
from fairdesk.data.table import Column, Kind
from fairdesk.report.content.redaction import OTHER, Shown, kept_groups

#: What in a manifest tells how names of the data are taken.
_NAMING = ("codes", "hints", "names")
#: Members that are files of a command.
_FILES = ("domain_file", "map_file")
#: What in a manifest may speak of names of the data, and what in it is no speech.
_SPEAKING = ("spec", "runs", "commands")
_SILENT = ("sha256", "state", "method", "kind", "role", "how", "type", "started", "ended")


class RedactedJson:
    """Leaves out of JSON what a report leaves out of single people.

    Parameters
    ----------
    shown : Shown
        What may be told.
    """

    def __init__(self, shown: Shown) -> None:
        self._shown = shown

    def manifest(self, text: str) -> str:
        """Leave out of a manifest's JSON what the report leaves out, and say so in it.

        Wherever they stand: the values of columns and attributes, examples of texts, groups of a
        few people, entries about single pairs. What is left out of an entry of the log no longer
        has its fingerprint: that can be checked with the audit file alone.
        """
        if self._shown.whole:
            return text
        document = {
            name: self._spoken_of(each) if name in _SPEAKING else each
            for name, each in self._without(msgspec.json.decode(text)).items()
        }
        document["redacted"] = self._shown.sentence
        return msgspec.json.format(
            msgspec.json.encode(document, order="deterministic"), indent=1
        ).decode()

    def file(self, text: str) -> str:
        """Return a JSON file without values that may not be named; an empty text stays one."""
        if self._shown.whole or not text:
            return text
        document = self._nameless(msgspec.json.decode(text))
        return msgspec.json.encode(self._spoken_of(document, strict=True)).decode()

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
        if isinstance(node, str) and node not in self._shown.columns:
            return self._shown.words(node, strict=strict)
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
            name: self.file(each)
            if name in _FILES
            else self._nameless(each)
            if name in _NAMING
            else self._without(each)
            for name, each in node.items()
        }
        match node.get("type"):
            case "IdentityTerm":
                node["examples"] = []
            case "GroupTable":
                node = _without_few(node)
        if {"delimiter", "columns"} <= node.keys():
            node["columns"] = {
                name: {member: each for member, each in reading.items() if member != "cells"}
                for name, reading in node["columns"].items()
            }
        if {"name", "kind", "values"} <= node.keys() and node["name"] in self._shown.columns:
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
                if name not in self._shown.hidden
            }
        if isinstance(node, str) and node.startswith("{"):
            return msgspec.json.encode(self._nameless(msgspec.json.decode(node))).decode()
        return OTHER if self._is_hidden(node) else node

    def _entry(self, node: dict[str, Any]) -> dict[str, Any]:
        at, what, facts = (str(node.get(name, "")) for name in ("at", "what", "facts"))
        (entry,) = self._shown.log([LogEntry(at, what, node["kind"], facts)])
        if entry.what != node["what"]:
            return {**node, "what": entry.what, "facts": ""}
        try:
            fact = msgspec.json.decode(node["facts"])
        except (KeyError, msgspec.DecodeError):
            return node
        kept = self._without(fact)
        return node if kept == fact else {**node, "facts": msgspec.json.encode(kept).decode()}

    def _column(self, node: dict[str, Any]) -> dict[str, Any]:
        """Empty what a column's values tell of single rows."""
        column = Column(str(node["name"]), Kind(node["kind"]), tuple(map(str, node["values"])))
        # how single cells are written is told by how many there are
        node = {name: [] if name in ("odd", "garbled") else each for name, each in node.items()}
        if column.kind in (Kind.TEXT, Kind.IGNORED):
            return {**node, "values": [], "low": 0.0, "high": 0.0}
        # the last value of some attributes stands for a missing cell, and is no name
        values = {*self._shown.values(column), *(column.values[-1:] if node.get("unknown") else ())}
        return {**node, "values": [name if name in values else OTHER for name in column.values]}

    def _is_hidden(self, value: object) -> bool:
        return isinstance(value, str) and value in self._shown.hidden


def _without_few(node: dict[str, Any]) -> dict[str, Any]:
    """Leave the groups of a few people out of a table's JSON."""
    lines, reference = node.get("lines", []), node.get("reference", -1)
    keep = kept_groups([line.get("n_samples", 0) for line in lines])
    if keep is None:
        return node
    kept = keep.index(reference) if reference in keep else -1
    return {**node, "lines": [lines[i] for i in keep], "reference": kept}
