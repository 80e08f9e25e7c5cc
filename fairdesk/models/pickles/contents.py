"""What a model file is made of, told without running anything of it."""

from __future__ import annotations

import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import msgspec

from fairdesk.errors import ModelError
from fairdesk.models.detect import describe_format, model_within
from fairdesk.models.packed import DAMAGED, PIECE, unpacked
from fairdesk.models.pickles.allowed_names import Standing, standing
from fairdesk.models.pickles.unpickling import names_in

#: Where a pickle says which scikit-learn wrote it: the key, perhaps remembered, and its text,
#: whose length is told before it, or which ends with its line.
_SCIKIT = re.compile(
    rb"_sklearn_version'?\n?(?:\x94|q.|r.{4}|p\d+\n)?"
    rb"(?:X(?P<four>.{4})|[U\x8c](?P<one>.)|V|S')(?P<text>\d+\.\d+[0-9A-Za-z.+]*)",
    re.DOTALL,
)
#: The same of XGBoost: in its own binary form, or in the JSON of older versions.
_XGBOOST = re.compile(
    rb"version\[(?:#[Ll].{3,7}\x03i(.)i(.)i(.)|\$i#[Ll].{3,7}\x03(.)(.)(.)"
    rb"|#i\x03i(.)i(.)i(.))|\"version\"\s*:\s*\[(\d+),\s*(\d+),\s*(\d+)\]",
    re.DOTALL,
)
_VERSION_TEXT = re.compile(r"\d+(\.\w+){1,4}")
#: What is kept from one piece to the next, so that nothing is missed between them.
_OVERLAP = 128
#: Descriptions inside a file are read up to this size, and so many names are told.
_MOST_BYTES, _MOST_NAMES = 64 << 20, 2_000
#: Libraries by the names under which they are installed.
_INSTALLED_AS = {
    "scikit-learn": ("scikit-learn",),
    "xgboost": ("xgboost", "xgboost-cpu"),
    "lightgbm": ("lightgbm",),
}
#: Parts of a skops file that call something, or make something that calls.
_CALLING_NODES = frozenset(
    ("MethodNode", "PartialNode", "OperatorFuncNode", "ConstructorFromReduceNode")
)


class ImportedName(msgspec.Struct, frozen=True):
    """A class or function that a file asks for when it is opened.

    Attributes
    ----------
    name : str
        With its module: ``"sklearn.tree._tree.Tree"``.
    standing : str
        ``"known"``: a class that the allow-list lets pass; ``"unknown"``: any other;
        ``"dangerous"``: well known for harm (it runs commands, opens files or connections).
    """

    name: str
    standing: Standing


class Contents(msgspec.Struct, frozen=True):
    """What a model file is made of.

    Attributes
    ----------
    format : str
        As `fairdesk.models.detect.describe_format` says.
    saved_with : dict[str, str]
        Versions of libraries that the file tells: ``{"scikit-learn": "1.3.2"}``.
    imports : tuple[ImportedName, ...]
        What a pickle asks for, as its opcodes tell. Information, not a verdict.
    notes : tuple[str, ...]
        What else is worth knowing, a sentence each.
    """

    format: str
    saved_with: dict[str, str] = msgspec.field(default_factory=dict)
    imports: tuple[ImportedName, ...] = ()
    notes: tuple[str, ...] = ()


def look_into(path: Path) -> Contents:
    """Return what a model file is made of; nothing of it is run.

    Raises
    ------
    ModelError
        When the file is there but may not be read, or unpacks to more than is read.
    """
    kind = describe_format(path)
    if kind == "archive":
        with model_within(path) as model:
            return look_into(model)
    looks = {
        "pickle": _pickle,
        "skops": _skops,
        "keras-zip": _keras,
        "hdf5": _keras,
        "onnx": _onnx,
    }
    return looks[kind](path) if kind in looks else Contents(kind)


def wanted_environment(contents: Contents) -> dict[str, str]:
    """Return the versions of libraries that a file needs and that are not installed here.

    Returns
    -------
    dict[str, str]
        ``{"scikit-learn": "1.1.3"}``: all versions that the file tells, when one of them is another
        major or minor version than the installed one, or its library is missing; else empty.
    """
    versions = {name: text for name, text in contents.saved_with.items() if name in _INSTALLED_AS}
    differs = any(_minor(text) != _minor(installed(name)) for name, text in versions.items())
    return versions if differs else {}


def spoken(wanted: dict[str, str]) -> tuple[str, str]:
    """Write versions that a file wants, and those that are here instead, for a sentence."""
    saved = " and ".join(f"{name} {text}" for name, text in wanted.items())
    present = " and ".join(
        f"{name} {installed(name)}" if installed(name) else f"no {name}" for name in wanted
    )
    return saved, present


def installed(library: str) -> str:
    """Return the version of a library that is installed; empty when it is not."""
    for name in _INSTALLED_AS.get(library, (library,)):
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    return ""


def _minor(text: str) -> tuple[str, ...]:
    return tuple(text.split(".")[:2])


def _pickle(path: Path) -> Contents:
    names, fills, trouble = names_in(path)
    versions, notes = {}, []
    found = Counter(
        version for _, state in fills if isinstance(version := state.get("_sklearn_version"), str)
    )
    known = [text for text, _ in found.most_common() if _VERSION_TEXT.fullmatch(text)]
    if not known:
        known = _searched(path, _SCIKIT)
    if known:
        versions["scikit-learn"] = known[0]
    if len(known) > 1:
        notes.append(f"Its parts were made with several versions of scikit-learn: {_list(known)}.")
    boosted = any(module.startswith("xgboost.") for module, _ in names)
    if boosted and (booster := _searched(path, _XGBOOST)):
        versions["xgboost"] = booster[0]
    if any(module.startswith("lightgbm.") for module, _ in names):
        notes.append("LightGBM models do not state the version of LightGBM that made them.")
    if any(module.startswith("numpy._core") for module, _ in names):
        notes.append("It was written with NumPy 2 or newer.")
    if trouble:
        notes.append(f"It could not be read to its end: {trouble[:300]}.")
    return Contents("pickle", versions, _standings(names), tuple(notes))


def _standings(names: Iterable[tuple[str, str]]) -> tuple[ImportedName, ...]:
    distinct = sorted({(f"{module}.{name}", standing(module, name)) for module, name in names})
    # what is not known comes first: it is what the reader must see, also of a very long list
    distinct.sort(key=lambda entry: ("dangerous", "unknown", "known").index(entry[1]))
    return tuple(ImportedName(name, found) for name, found in distinct[:_MOST_NAMES])


def _searched(path: Path, pattern: re.Pattern[bytes]) -> list[str]:
    """Find a version in a file's unpacked content."""
    try:
        for piece in _pieces(path):
            found = pattern.search(piece)
            if found and "text" in found.groupdict():
                text = found["text"].decode()[: _length(found)]
                return [text] if _VERSION_TEXT.fullmatch(text) else []
            if found:
                groups = [group for group in found.groups() if group is not None]
                return [".".join(_part(group) for group in groups)]
    except DAMAGED:
        # cut off: opening it will say so
        return []
    return []


def _length(found: re.Match[bytes]) -> int | None:
    """Return how long a text is, as a pickle tells before it; none where its line ends it."""
    size = found["four"] or found["one"]
    return int.from_bytes(size, "little") if size else None


def _part(group: bytes) -> str:
    """Return a part of a version, which is a text or one byte."""
    return group.decode() if group[:1].isdigit() else str(group[0])


def _pieces(path: Path) -> Iterator[bytes]:
    with unpacked(path) as stream:
        tail = b""
        while piece := stream.read(PIECE):
            yield tail + piece
            tail = piece[-_OVERLAP:]


def schema_of(path: Path) -> dict[str, Any]:
    """Read the description in a skops file.

    Raises
    ------
    ModelError
        When it is damaged or larger than any description.
    """
    try:
        with zipfile.ZipFile(path) as archive, archive.open("schema.json") as stream:
            text = stream.read(_MOST_BYTES + 1)
        if len(text) > _MOST_BYTES:
            raise ModelError(
                f"The description inside “{path.name}” is too large.",
                why="The description of a model of tabular data is a thousand times smaller.",
                remedy="Ask for another file.",
            )
        content = json.loads(text)
        if not isinstance(content, dict):
            raise TypeError("it is not a description of a model")  # noqa: TRY301
    except (*DAMAGED, zipfile.BadZipFile, KeyError, TypeError, NotImplementedError) as error:
        raise ModelError(
            f"“{path.name}” is damaged.",
            why=f"Its description cannot be read: {str(error)[:200]}",
            remedy="Download or copy it again, and compare its size with the original’s.",
        ) from error
    return content


def types_in(schema: Any) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - any JSON
    """Yield the modules and names of all that a skops description asks for.

    The ways in which skops itself makes methods and operators of names are among them, as names
    of the module ``"skops"``.
    """
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            if isinstance(node.get("__class__"), str) and isinstance(node.get("__module__"), str):
                yield node["__module__"], node["__class__"]
            if node.get("__loader__") in _CALLING_NODES:
                yield "skops", node["__loader__"]
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)


def _skops(path: Path) -> Contents:
    schema = schema_of(path)
    versions = {"skops": str(schema.get("_skops_version", ""))[:50]}
    found = re.search(
        rf'"_sklearn_version": {{[^{{}}]*"\\"({_VERSION_TEXT.pattern})', _text(schema)
    )
    if found:
        versions = {"scikit-learn": found[1], **versions}
    return Contents("skops", versions, _standings(types_in(schema)))


def _text(schema: dict[str, Any]) -> str:
    try:
        return json.dumps(schema)
    except RecursionError:
        return ""


def _keras(path: Path) -> Contents:
    # needed here only
    from fairdesk.models.keras.parts import DAMAGE, opened  # noqa: PLC0415

    kind = describe_format(path)
    try:
        with opened(path) as parts:
            versions = {"keras": parts.version[:50]} if parts.version else {}
            layers = dict.fromkeys(_layers(parts.config))
    except (*DAMAGE, ModelError) as error:
        return Contents(kind, notes=(f"It is damaged: {str(error)[:200]}.",))
    return Contents(kind, versions, notes=_layer_notes(layers))


def _layers(config: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON
    waiting = [config]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, dict):
            if isinstance(node.get("class_name"), str) and "config" in node:
                yield node["class_name"][:100]
            held = node.get("config", node)
            waiting.extend(held.get("layers", []) if isinstance(held, dict) else [])


def _layer_notes(layers: Iterable[str]) -> tuple[str, ...]:
    names = list(layers)
    return (f"It is made of: {_list(names[:40])}.",) if names else ()


def _onnx(path: Path) -> Contents:
    # needed here only
    from fairdesk.models.onnx.graph import DamagedError, outline, parse  # noqa: PLC0415

    if path.stat().st_size > 2 << 30:
        return Contents("onnx", notes=("It is larger than an ONNX file can be.",))
    try:
        inside = outline(parse(path.read_bytes()))
    except DamagedError as error:
        return Contents("onnx", notes=(f"It is damaged: {str(error)[:200]}.",))
    notes = [f"Written by {inside.producer}."] if inside.producer else []
    strangers = sorted(domain for domain in inside.domains if domain)
    if strangers:
        notes.append(f"Its operations come from: {_list(strangers)}.")
    return Contents("onnx", notes=tuple(notes))


def _list(names: Iterable[str]) -> str:
    return ", ".join(f"“{name}”" for name in names)
