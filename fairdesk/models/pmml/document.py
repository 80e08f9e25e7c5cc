"""A PMML document as plain elements, from XML that may be hostile."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

from fairdesk.errors import ModelError

#: A document that is larger, has more elements, or nests them deeper is refused.
MOST_BYTES, MOST_ELEMENTS, DEEPEST = 1 << 30, 4_000_000, 3_000
#: Parts that tell nothing about how a model answers.
_SKIPPED = frozenset(
    {"Extension", "ModelStats", "ModelExplanation", "ModelVerification", "Partition"}
)
_PIECE = 1 << 20


class NotReadError(Exception):
    """A model uses what FairDesk does not read; the message names it: ``"the function “x”"``."""


class Element:
    """An element of the document.

    Attributes
    ----------
    tag : str
        Without its namespace.
    attributes : dict[str, str]
        As written.
    children : list[Element]
        In order.
    text : str
        What is between its tags.
    """

    __slots__ = ("attributes", "children", "tag", "text")

    def __init__(self, tag: str, attributes: dict[str, str]) -> None:
        self.tag = tag
        self.attributes = attributes
        self.children: list[Element] = []
        self.text = ""

    def get(self, name: str, otherwise: str = "") -> str:
        """Return an attribute."""
        return self.attributes.get(name, otherwise)

    def number(self, name: str, otherwise: float | None = None) -> float:
        """Return an attribute as a number.

        Raises
        ------
        NotReadError
            When it is none, or is missing and ``otherwise`` is too.
        """
        text = self.attributes.get(name)
        if text is None and otherwise is not None:
            return otherwise
        try:
            return float(text or "")
        except ValueError:
            raise NotReadError(f"a {self.tag} whose “{name}” is “{text or ''}”") from None

    def all(self, *tags: str) -> list[Element]:
        """Return the children of these tags."""
        return [child for child in self.children if child.tag in tags]

    def one(self, tag: str) -> Element | None:
        """Return the first child of a tag."""
        return next((child for child in self.children if child.tag == tag), None)

    def within(self, tag: str) -> list[Element]:
        """Return the children of the first child of a tag; none where there is none."""
        found = self.one(tag)
        return [] if found is None else found.children

    def everything(self) -> Iterator[Element]:
        """Return this element and all below it."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
            yield element
            waiting.extend(reversed(element.children))


class _Builder:
    """Puts elements together as the parser meets them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._open: list[Element] = []
        self._texts: list[list[str]] = []
        self._skipping = 0
        self._count = 0
        self.root: Element | None = None

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        tag = tag.rpartition(":")[2]
        self._count += 1
        if self._count > MOST_ELEMENTS or len(self._open) + self._skipping >= DEEPEST:
            raise _too_large(self._path)
        if self._skipping or tag in _SKIPPED:
            self._skipping += 1
            return
        element = Element(tag, attributes)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        self._open.append(element)
        self._texts.append([])

    def end(self, _: str) -> None:
        if self._skipping:
            self._skipping -= 1
            return
        self._open.pop().text = "".join(self._texts.pop()).strip()

    def characters(self, text: str) -> None:
        if self._texts and not self._skipping:
            self._texts[-1].append(text)

    def entity(self, *_: object) -> NoReturn:
        raise ModelError(
            f"“{self._path.name}” declares entities, which no PMML document needs.",
            why=(
                "With such declarations, an XML file can be made to fill the memory or to read "
                "other files."
            ),
            remedy="Export the model again, or ask for it as ONNX.",
        )


def read_document(path: Path) -> Element:
    """Read a PMML document.

    Raises
    ------
    ModelError
        When it is no well-formed XML, declares entities, or is too large.
    """
    if path.stat().st_size > MOST_BYTES:
        raise _too_large(path)
    builder = _Builder(path)
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.characters
    parser.EntityDeclHandler = builder.entity
    try:
        with path.open("rb") as stream:
            while piece := stream.read(_PIECE):
                parser.Parse(piece)
            parser.Parse(b"", True)  # noqa: FBT003 - the parser's own manner
    except (expat.ExpatError, LookupError, ValueError) as error:
        raise ModelError(
            f"“{path.name}” is cut off or is not well-formed XML.",
            why=f"The parser reported: {error}.",
            remedy="Download or copy it again and compare its size with the original’s, or export "
            "the model again.",
        ) from error
    if builder.root is None or builder.root.tag != "PMML":
        raise ModelError(
            f"“{path.name}” is XML, but not PMML.",
            remedy="Choose the file that the model was exported to.",
        )
    return builder.root


def _too_large(path: Path) -> ModelError:
    return ModelError(
        f"“{path.name}” is too large or too deep for a PMML document that FairDesk reads.",
        why=f"It may have a gigabyte, {MOST_ELEMENTS:,} elements, {DEEPEST:,} within each other.",
        remedy="Ask for a model with fewer or smaller trees, or for it as ONNX.",
    )
