"""A picture for the cover is one, and nothing else: no program, no bomb, no stranger's address."""

import base64
import io
import struct
import zlib

import pytest
from pypdf import PdfReader

from fairdesk.errors import ReportError
from fairdesk.report.content.fields import read_logo
from fairdesk.report.render import pdf as pages
from fairdesk.report.render.logo import check_logo, drawing
from tests.report.pages_building import report

JPEG = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABsSFBcUERsXFhceHBsgKEIrKCUlKFE6PTBCYFVlZF9VXVtqeJmBanGQc1td"
    "hbWGkJ6jq62rZ4C8ybqmx5moq6T/wAALCAAIABABAREA/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QA"
    "tRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0"
    "NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2"
    "t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/9oACAEBAAA/AKlFf//Z"
)


def png(width, height, data=None):
    """Make a PNG of one colour; or one that tells a size and holds other data."""

    def chunk(kind, content):
        crc = struct.pack(">I", zlib.crc32(kind + content))
        return struct.pack(">I", len(content)) + kind + content + crc

    rows = (b"\0" + b"\x20\x40\x80" * width) * height if data is None else data
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = (chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def svg(inside, attributes=""):
    names = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return f'<svg {names} viewBox="0 0 20 10" {attributes}>{inside}</svg>'.encode()


def tenfold(i):
    """Draw what was drawn before ten times, and again: a small file of billions of lines."""
    return f'<g id="{i}">' + f'<use href="#{i - 1 if i else "a"}"/>' * 10 + "</g>"


def embedded(content):
    return f"data:image/png;base64,{base64.b64encode(content).decode()}"


@pytest.mark.parametrize(
    "content",
    [
        png(20, 10),
        JPEG,
        svg('<rect id="a" width="9" height="5" fill="#222"/><use xlink:href="#a" x="9"/>'),
        svg(f'<image width="9" height="5" href="{embedded(png(4, 4))}"/>'),
        b'<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "svg11.dtd">' + svg("<g/>"),
    ],
    ids=["png", "jpeg", "svg", "svg with png", "svg with doctype"],
)
def test_a_picture_is_drawn_on_the_cover_of_an_accessible_document(content):
    with_logo = pages.document(report(logo=check_logo(content)))
    assert with_logo.standard == "ua-1+a-3a"
    assert with_logo.content != pages.pdf(report())
    assert PdfReader(io.BytesIO(with_logo.content)).pages


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "not an SVG, PNG or JPEG"),
        (b"GIF89a", "not an SVG, PNG or JPEG"),
        (b"logo", "not an SVG, PNG or JPEG"),
        (png(0, 0), "0 × 0 points"),
        (png(30_000, 30_000, b"\0" * 900), "30,000 × 30,000 points"),
        (png(20, 10)[:20], "broken or cut short"),
        (png(200, 100)[:-30], "broken or cut short"),
        (JPEG[:100], "broken or cut short"),
        (png(20, 10) + b"\0" * 2_000_000, "2.0 MB"),
        (svg("<g>"), "cannot be read"),
        (svg("<g>" * 100_000 + "</g>" * 100_000), "nested more than 200 deep"),
        (svg('<g id="a"/>' + "".join(map(tenfold, range(9))) + '<use href="#8"/>'), "broken"),
        (b'<?xml version="1.0"?><!-- \xff --><svg/>', "cannot be read"),
        (b'<svg viewBox="0 0 9 9"/>', "broken or cut short"),
        (svg("<script>alert(1)</script>"), "more than a picture"),
        (svg("<foreignObject/>"), "more than a picture"),
        (svg("<g/>", 'onload="go()"'), "contains code"),
        (svg('<a href="javascript:go()"/>'), "another file or address"),
        (svg('<image href="https://a.example/a.png"/>'), "another file or address"),
        (svg('<image xlink:href="../a.png"/>'), "another file or address"),
        (svg(f'<image href="{embedded(png(30_000, 30_000, b""))}"/>'), "broken or too large"),
        (svg('<image href="data:image/png;base64,A"/>'), "broken or too large"),
        (svg("<style>@im&#112;ort 'a.css';</style>"), "another file or address"),
        (svg('<g style="fill: url( &quot;http://a.example&quot; )"/>'), "another file or address"),
        (b'<!DOCTYPE svg [<!ENTITY a "aaaa">]>' + svg("<text>&a;</text>"), "abbreviations"),
    ],
)
def test_anything_else_is_refused_in_plain_words(content, why):
    with pytest.raises(ReportError, match="cannot be the logo") as refused:
        check_logo(content)
    assert why in refused.value.why
    assert refused.value.remedy


def test_a_file_is_called_by_its_name(tmp_path):
    path = tmp_path / "our logo.png"
    path.write_bytes(png(20, 10))
    assert read_logo(path) == path.read_bytes()
    path.write_bytes(b"nothing")
    with pytest.raises(ReportError, match=r"“our logo\.png” cannot be the logo"):
        read_logo(path)


def test_a_photograph_keeps_its_shape():
    assert 'viewBox="0 0 16 8"' in drawing(check_logo(JPEG))
