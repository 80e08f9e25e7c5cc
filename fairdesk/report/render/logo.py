"""A picture for the cover: tried before it is kept, and made ready to be drawn.

An SVG may hold programs, and ask for files elsewhere; a small PNG may unfold to gigabytes. Neither
gets into an audit.
"""

from __future__ import annotations

import base64
import binascii
import io
import struct
from collections.abc import Iterator
from typing import NamedTuple
from xml.parsers import expat

from fairdesk.errors import ReportError

#: A logo larger than this, in bytes or in pixels, would weigh down every report.
MOST_BYTES, MOST_PIXELS = 2_000_000, 20_000_000
#: Groups in groups: what draws an SVG calls itself for each, and too many would end the program.
_MOST_DEPTH = 200
_PNG, _JPEG, _SVG = "image/png", "image/jpeg", "image/svg+xml"
#: The segments of a JPEG that tell its size.
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_PROGRAMS = frozenset(("script", "foreignObject", "iframe", "handler", "set", "animate"))


_BROKEN = "The file is broken or cut short."


class _NoPictureError(ValueError):
    """What speaks against a picture."""


class _Size(NamedTuple):
    width: int
    height: int


def check_logo(content: bytes, name: str = "This picture") -> str:
    """Try a picture, called by a name, and give it as a data URI.

    Raises
    ------
    ReportError
        When it is no SVG, PNG or JPEG, is broken or too large, or is an SVG that is more than a
        picture: with programs, animations or references to other files.
    """
    try:
        kind = _checked(content)
    except _NoPictureError as error:
        raise ReportError(
            f"{name} cannot be the logo.",
            why=str(error),
            remedy="Choose another picture, or leave the cover without one.",
        ) from None
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def drawing(uri: str) -> str:
    """Return a checked picture's data URI as SVG, which typst takes as text."""
    kind, encoded = uri.removeprefix("data:").split(";base64,")
    content = base64.b64decode(encoded)
    if kind == _SVG:
        return content.decode()
    width, height = _size(content, kind) or (0, 0)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}"><image width="{width}" '
        f'height="{height}" href="{uri}"/></svg>'
    )


def _checked(content: bytes) -> str:
    """Return a picture's media type when nothing speaks against it."""
    if len(content) > MOST_BYTES:
        what = f"It has {len(content) / 1e6:.1f} MB; at most {MOST_BYTES // 10**6} MB are kept."
        raise _NoPictureError(what)
    kind = _kind(content)
    if not kind:
        raise _NoPictureError("It is not an SVG, PNG or JPEG picture.")
    if kind == _SVG:
        _check_svg(content)
    elif (size := _size(content, kind)) is None:
        raise _NoPictureError(_BROKEN)
    elif not 0 < size.width * size.height <= MOST_PIXELS:
        raise _NoPictureError(
            f"It has {size.width:,} × {size.height:,} points; at most {MOST_PIXELS:,} are drawn."
        )
    if not _drawn(content):
        raise _NoPictureError(_BROKEN)
    return kind


def _kind(content: bytes) -> str:
    if content.startswith(b"\x89PNG\r\n\x1a\n"):
        return _PNG
    if content.startswith(b"\xff\xd8\xff"):
        return _JPEG
    return _SVG if b"<svg" in content[:4_096] else ""


def _size(content: bytes, kind: str) -> _Size | None:
    """Read how large a picture is without unfolding it; None when it does not tell."""
    if kind == _PNG:
        return _Size(*struct.unpack(">II", content[16:24])) if len(content) >= 24 else None
    return next(_frames(content), None)


def _frames(content: bytes) -> Iterator[_Size]:
    """Read the sizes that the segments of a JPEG tell."""
    at = 2
    while at + 9 <= len(content) and content[at] == 0xFF:
        marker, length = content[at + 1], int.from_bytes(content[at + 2 : at + 4], "big")
        if marker in _FRAMES:
            height, width = struct.unpack(">HH", content[at + 5 : at + 9])
            yield _Size(width, height)
        # a filling byte has no length
        at += 1 if marker == 0xFF else 2 + length


def _check_svg(content: bytes) -> None:
    """Refuse an SVG that is more than a picture."""
    parser = expat.ParserCreate(namespace_separator="}")
    # otherwise a text could come in pieces
    parser.buffer_text = True
    depth = 0

    def enter(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > _MOST_DEPTH:
            raise _NoPictureError(f"The SVG has groups nested more than {_MOST_DEPTH} deep.")
        _check_element(name, attributes)

    def leave(_name: str) -> None:
        nonlocal depth
        depth -= 1

    parser.StartElementHandler, parser.EndElementHandler = enter, leave
    parser.CharacterDataHandler = _check_reference
    parser.EntityDeclHandler = _refuse_entity
    try:
        content.decode()
        parser.ParseFile(io.BytesIO(content))
    except (UnicodeDecodeError, expat.ExpatError) as error:
        raise _NoPictureError(f"The SVG cannot be read: {error}.") from None


def _check_element(name: str, attributes: dict[str, str]) -> None:
    tag = name.rpartition("}")[2]
    if tag in _PROGRAMS:
        raise _NoPictureError(f"The SVG contains a “{tag}”, so it is more than a picture.")
    for attribute, value in attributes.items():
        local = attribute.rpartition("}")[2].lower()
        if local.startswith("on"):
            raise _NoPictureError("The SVG contains code, so it is more than a picture.")
        if local == "href" and not value.startswith("#"):
            _check_embedded(value)
        _check_reference(value)


def _check_embedded(uri: str) -> None:
    """Refuse what an SVG holds beside its lines, unless it is a picture that could be the logo."""
    for kind in (_PNG, _JPEG):
        if uri.startswith(f"data:{kind};base64,"):
            try:
                size = _size(base64.b64decode(uri.partition(",")[2]), kind)
            except binascii.Error:
                size = None
            if size is None or not 0 < size.width * size.height <= MOST_PIXELS:
                raise _NoPictureError("The SVG contains a picture that is broken or too large.")
            return
    raise _NoPictureError("The SVG refers to another file or address.")


def _check_reference(text: str) -> None:
    """Refuse what asks for another file, in an attribute or a style sheet."""
    squeezed = "".join(text.split()).lower().replace("'", "").replace('"', "")
    if "@import" in squeezed or "url(" in squeezed.replace("url(#", ""):
        raise _NoPictureError("The SVG refers to another file or address.")


def _refuse_entity(*_declared: object) -> None:
    raise _NoPictureError(
        "It defines abbreviations (entities), by which a small file can grow huge."
    )


def _drawn(content: bytes) -> bool:
    """Whether typst, which will set the cover, can draw a picture."""
    import typst  # noqa: PLC0415 - 80 MB that only a report needs

    page = b"#image(bytes(json(bytes(sys.inputs.numbers))))"
    try:
        typst.compile(page, sys_inputs={"numbers": str(list(content))})
    except typst.TypstError:
        return False
    return True
