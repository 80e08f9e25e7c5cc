"""Files of other formats, good and hostile, made on the spot."""

from __future__ import annotations

import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path


def workbook(path: Path, sheets: dict[str, list[list[object]]]) -> Path:
    """Write an .xlsx file with these sheets."""
    from openpyxl import Workbook

    book = Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def database(path: Path, *statements: str, rows: dict[str, list[tuple]] | None = None) -> Path:
    """Write an SQLite database by these statements, and rows by the names of their tables."""
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        for table, values in (rows or {}).items():
            marks = ",".join("?" * len(values[0]))
            connection.executemany(f'INSERT INTO "{table}" VALUES ({marks})', values)
        connection.commit()
    return path


def changed(path: Path, parts: dict[str, bytes], keep: Path) -> Path:
    """Copy a zip file with some parts replaced or added."""
    with zipfile.ZipFile(keep) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            if name not in parts:
                new.writestr(name, old.read(name))
        for name, content in parts.items():
            new.writestr(name, content)
    return path


def opendocument(path: Path, rows: str) -> Path:
    """Write an .ods file whose sheet has these rows of XML."""
    spaces = " ".join(
        f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{short}:1.0"'
        for short in ("office", "table", "text")
    )
    content = (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document-content {spaces}>'
        f'<office:body><office:spreadsheet><table:table table:name="People">{rows}'
        "</table:table></office:spreadsheet></office:body></office:document-content>"
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", content)
        archive.writestr(
            "META-INF/manifest.xml",
            "<manifest:manifest "
            'xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
            '<manifest:file-entry manifest:full-path="/" manifest:media-type='
            '"application/vnd.oasis.opendocument.spreadsheet"/></manifest:manifest>',
        )
    return path
