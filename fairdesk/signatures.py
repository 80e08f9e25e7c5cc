"""What a file is that was chosen as the model or the table: told by its content.

One list for both, so that a picture is called a picture wherever it is chosen, with what to do
about it. Nothing of a file is run, and no more than its beginning is read or unpacked.
"""

from __future__ import annotations

import bz2
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path

from fairdesk import file_types as types
from fairdesk.file_types import (
    DECISIONS,
    Recognised,
    archive_type,
    model_type,
    other_type,
    stand_in,
    table_type,
    text_type,
)

#: So much of a file is looked at: of what it unpacks to, and of it.
HEAD, _READ = 1 << 16, 1 << 20
#: No description at the beginning of weights is longer.
_LONGEST = 100 << 20
#: So many parts of an archive are listed.
_LISTED = 10

#: What files begin with, after how many bytes, and what they are.
_MAGIC: tuple[tuple[int, bytes, Recognised], ...] = (
    (0, b"\x89PNG\r\n\x1a\n", other_type("a picture (PNG)")),
    (0, b"\xff\xd8\xff", other_type("a picture (JPEG)")),
    (0, b"GIF87a", other_type("a picture (GIF)")),
    (0, b"GIF89a", other_type("a picture (GIF)")),
    (0, b"II*\0", other_type("a picture (TIFF)")),
    (0, b"MM\0*", other_type("a picture (TIFF)")),
    (8, b"WEBPVP8", other_type("a picture (WebP)")),
    (4, b"ftyp", other_type("a film or a picture (MP4, HEIC)")),
    (0, b"%PDF-", other_type("a PDF document")),
    (0, b"{\\rtf", types.DOCUMENT),
    (0, b"X\n\x00\x00\x00", types.R),
    (0, b"RDX2\nX\n", types.R_DATA),
    (0, b"RDX3\nX\n", types.R_DATA),
    (0, b"RDA2\nA\n", types.R_DATA),
    (0, b"RDA3\nA\n", types.R_DATA),
    # the number that PyTorch's older files begin with, as a pickle of its own
    (2, b"\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", types.PYTORCH),
    (4, b"TFL3", types.TFLITE),
    (0, b"GGUF", types.GGUF),
    (0, b"MATLAB 5.0 MAT-file", types.MATLAB),
    (0, b"MATLAB 7.3 MAT-file", types.MATLAB),
    (0, b"\x93NUMPY", types.ARRAYS),
    (12, b"\xc2\xea\x81\x60\xb3\x14\x11\xcf\xbd\x92\x08\x00\x09\xc7\x31\x8c", types.SAS),
    (0, b"HEADER RECORD*******LIB", types.SAS_TRANSPORT),
    (0, b"$FL2@(#)", types.SPSS),
    (0, b"$FL3@(#)", types.SPSS),
    (0, b"<stata_dta>", types.STATA),
    (0, b"ARROW1\0\0", types.ARROW),
    (0, b"FEA1", types.ARROW),
    (0, b"PAR1", types.PARQUET),
    (0, b"SQLite format 3\0", types.SQLITE),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", types.WORKBOOK),
    (0, b"\x89HDF\r\n\x1a\n", types.HDF5),
    (0, b"CBM1", types.BOOSTED),
    (0, b"7z\xbc\xaf\x27\x1c", archive_type("an archive (7z)")),
    (0, b"Rar!\x1a\x07", archive_type("an archive (RAR)")),
    (0, b"\x28\xb5\x2f\xfd", archive_type("a packed file (Zstandard)")),
    (257, b"ustar", archive_type("an archive (tar)", unpacks=True)),
    (0, b"\x7fELF", types.PROGRAM),
)
#: Of these the ones that could be words in a table.
_WORDS = frozenset(
    magic for _, magic, _ in _MAGIC if magic.decode("latin-1").isprintable() and magic.isascii()
) - {b"%PDF-", b"{\\rtf"}
#: Endings that decide where the content alone does not.
_BINARY_ENDINGS = {
    ".mlmodel": types.CORE_ML,
    ".pdmodel": types.PADDLE,
    ".pdiparams": types.PADDLE,
    ".pdparams": types.PADDLE,
    ".index": types.TF_CHECKPOINT,
    ".data-00000-of-00001": types.TF_CHECKPOINT,
    ".meta": types.TF_CHECKPOINT,
}


def _once(pattern: str, name: str = "before") -> str:
    """Match a pattern in one way only: tried in several, many comments would take forever.

    An atomic group; Python knows these from 3.11 on, and this module runs in older ones too.
    """
    return f"(?=(?P<{name}>{pattern}))(?P={name})"


#: What may stand before the root element of XML: comments and instructions.
_NOTES = r"\s*(?:(?:<!--.*?-->|<\?.*?\?>)\s*)*"
_PROLOGUE = _once(_NOTES)
#: Texts that are known by how they begin, without regard to case.
_TEXTS: tuple[tuple[re.Pattern[str], Recognised], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE | re.DOTALL), found)
    for pattern, found in (
        (
            r"version https://git-lfs",
            stand_in(
                "a Git LFS pointer: it stands for a file that was not downloaded",
                "Run “git lfs install” and “git lfs pull” in the repository’s folder, or download "
                "the file itself from the repository’s page.",
            ),
        ),
        (
            r"(\.\./)*(\.git/)?/?annex/objects/",
            stand_in(
                "a git-annex pointer: it stands for a file that was not downloaded",
                "Run “git annex get {name}” in the repository’s folder.",
            ),
        ),
        (
            r"outs:\s*\n- (md5|hash|size|etag)",
            stand_in(
                "a DVC pointer: it stands for a file that was not downloaded",
                "Run “dvc pull {name}” in the repository’s folder.",
            ),
        ),
        (
            r"404: Not Found|\s*\{\s*\"message\":\s*\"Not Found\"|(<\?xml[^>]*>\s*)?<Error>",
            stand_in(
                "a server’s answer that the file does not exist, saved in its place",
                "Check the address of the download, and download the file again.",
            ),
        ),
        (
            rf"{_PROLOGUE}(<!doctype html|<html)(?=.*github)",
            stand_in(
                "the web page that GitHub shows about a file, not the file itself",
                "Open that page and press “Download raw file”.",
            ),
        ),
        (
            rf"{_PROLOGUE}(<!doctype html|<html)",
            stand_in(
                "a web page (HTML)",
                "Open the page that it was saved from, and download the file itself.",
            ),
        ),
        (rf"{_PROLOGUE}<svg", text_type("a picture (SVG)")),
        (
            rf"{_PROLOGUE}<net\s",
            text_type(
                "the description of an OpenVINO model",
                "Choose the ONNX model that it was converted from.",
            ),
        ),
        (r"\s*\{\s*\"(learner|version)\":.*\"(learner|gradient_booster)\"", types.BOOSTED_TEXT),
        (r"tree\nversion=", types.BOOSTED_TEXT),
        (r"\s*\{.*\"nbformat\"", text_type("a notebook (Jupyter)", types.SCRIPT)),
        (
            _once(r"\s*\{.*?\"class_name\"") + r".*\"config\"",
            text_type(
                "the description of a Keras model, without its weights",
                'Ask its author for the whole model: model.save("model.keras").',
            ),
        ),
        (
            r"model_checkpoint_path:",
            text_type("the index of TensorFlow checkpoints", types.TF_CHECKPOINT.as_model),
        ),
        (
            r"(artifact_path|flavors):",
            text_type(
                "MLflow’s description of a model",
                "Choose the model’s own file beside it: model.pkl, or the folder “model” or "
                "“data” for Keras.",
            ),
        ),
        (r"-----BEGIN PGP", other_type("an encrypted file (PGP)")),
        (r"\s*\*?(@relation)\s", table_type("a Weka table (ARFF)", "Save it in Weka as CSV.")),
        (
            r"#![^\n]*python|import [\w.]+( as \w+)?\s*\n|from [\w.]+ import ",
            text_type("Python code", types.SCRIPT),
        ),
        (
            _once(r"(?:#[^\n]*\n|\s)*") + r"library\(\w+\)",
            text_type(
                "R code",
                "Run it and export the trained model as PMML: "
                'pmml::save_pmml(pmml::pmml(model), "model.pmml").',
            ),
        ),
    )
)


_PMML = re.compile(
    rf"{_PROLOGUE}(<!DOCTYPE[^>\[]*(\[.*?\])?>{_once(_NOTES, 'after')})?<(\w+:)?PMML\b", re.DOTALL
)


def recognise(path: Path) -> Recognised | None:
    """Say what a file or folder is, where that is known.

    Raises
    ------
    OSError
        When it cannot be read.
    """
    if path.is_dir():
        return _named(_folder(path), path)
    with path.open("rb") as stream:
        head = stream.read(_READ)
    return _named(_of(head, path), path)


def _named(found: Recognised | None, path: Path) -> Recognised | None:
    """Write the file's name into what is to be done."""
    if found is None or "{name}" not in found.as_model + found.as_table:
        return found
    as_model, as_table = (
        words.replace("{name}", path.name) for words in (found.as_model, found.as_table)
    )
    return replace(found, as_model=as_model, as_table=as_table)


def _of(head: bytes, path: Path) -> Recognised | None:
    inner = unpacked(head)
    ending = path.suffix.lower()
    if inner is not None:
        found = _by_magic(inner)
        tarred = inner[257:262] == b"ustar"
        return archive_type("an archive (tar, packed)", unpacks=True) if tarred else found
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip(path)
    if (found := _by_magic(head[:HEAD])) is not None:
        return found
    content = as_text(head[:HEAD])
    if content is not None:
        return _by_text(content, ending)
    return _by_structure(head, ending, path)


def _by_magic(head: bytes) -> Recognised | None:
    # what reads like words could begin a table, which holds no zero byte
    binary = b"\0" in head
    return next(
        (
            found
            for at, magic, found in _MAGIC
            if head[at : at + len(magic)] == magic and (binary or magic not in _WORDS)
        ),
        None,
    )


def _by_structure(head: bytes, ending: str, path: Path) -> Recognised | None:
    """Recognise what is no text by more than its first bytes."""
    length = int.from_bytes(head[:8], "little")
    head = head[:HEAD]
    java = head.startswith(b"\xac\xed\x00\x05")
    it_is = {
        types.SAVED_MODEL_PART: path.name == "saved_model.pb",
        types.WEKA: java and b"weka." in head,
        types.JAVA: java,
        types.SAFETENSORS: head[8:10] == b'{"' and length <= _LONGEST and b'"dtype"' in head,
        types.STATA: re.match(rb"[\x69-\x76][\x01\x02]\x01\x00", head) is not None,
        types.BITMAP: head.startswith(b"BM") and head[6:10] == bytes(4),
        types.PROGRAM: head.startswith(b"MZ"),
        _BINARY_ENDINGS.get(ending): True,
        types.PICKLE: re.match(rb"\x80[\x00-\x05]", head) is not None,
        types.ONNX: ending == ".onnx",
        types.TF_GRAPH: ending == ".pb" and head[:1] == b"\x0a",
    }
    return next((found for found, true in it_is.items() if true and found is not None), None)


def _by_text(text: str, ending: str) -> Recognised | None:
    for pattern, found in _TEXTS:
        if pattern.match(text):
            return found
    if is_pmml(text):
        return types.PMML
    if ending == ".py":
        return text_type("Python code", types.SCRIPT)
    if ending == ".xml" or re.match(r"\s*<\?xml", text):
        return text_type(
            "an XML file, but not PMML",
            f"Ask its author for the model as PMML or ONNX. {DECISIONS}",
            "Save the table as CSV in the program that wrote it.",
        )
    if ending in (".json", ".jsonl", ".ndjson") and re.match(r"\s*[\[{]", text):
        return text_type(
            "a JSON file",
            "Ask its author which program wrote it, and for the model as ONNX or PMML. "
            + DECISIONS,
            'Save the table as CSV: pandas.read_json("{name}").to_csv("table.csv", index=False).',
        )
    return None


def is_pmml(text: str) -> bool:
    """Return whether a text is PMML by how it begins."""
    return _PMML.match(text) is not None


def looks_tabular(text: str) -> bool:
    """Return whether the first lines of a text are cells: equally many, two or more."""
    lines = [line for line in text.splitlines()[:20] if line.strip()]
    if len(lines) > 2:
        lines = lines[:-1]
    return len(lines) > 1 and any(
        line_counts[0] > 0 and len(set(line_counts)) == 1
        for mark in ",;\t|"
        for line_counts in ([line.count(mark) for line in lines],)
    )


def as_text(head: bytes) -> str | None:
    """Return the beginning of a file as text; none where it is none."""
    for mark, encoding in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if head.startswith(mark):
            return head[2 : len(head) // 2 * 2].decode(encoding, errors="replace")
    if b"\0" in head:
        return None
    head = head[3:] if head.startswith(b"\xef\xbb\xbf") else head
    try:
        # the last character may be cut
        return (head[:-4] if len(head) >= HEAD - 3 else head).decode()
    except UnicodeDecodeError:
        # a text of Windows has few letters beyond ASCII, and no control characters
        controls = sum(byte < 32 and byte not in b"\t\n\r\f\x1a\x1b" for byte in head)
        beyond = sum(byte > 126 for byte in head)
        return head.decode("cp1252", "replace") if not controls and beyond < len(head) / 4 else None


def unpacked(head: bytes) -> bytes | None:
    """Unpack the beginning of what gzip, bzip2 or xz have packed; none of anything else.

    Empty where it is too short, or damaged.
    """
    openers: dict[bytes, Callable[[], bytes]] = {
        b"\x1f\x8b": lambda: zlib.decompressobj(31).decompress(head, HEAD),
        b"BZh": lambda: bz2.BZ2Decompressor().decompress(head, HEAD),
        b"\xfd7zXZ\0": lambda: lzma.LZMADecompressor().decompress(head, HEAD),
    }
    for magic, unpack in openers.items():
        if head.startswith(magic):
            try:
                return unpack()
            except (zlib.error, OSError, lzma.LZMAError, EOFError, ValueError):
                return b""
    return None


def _zip(path: Path) -> Recognised | None:
    try:
        with zipfile.ZipFile(path) as parts:
            names = parts.namelist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError):
        return types.CUT_OFF
    files = [name for name in names if not name.endswith("/")]
    shown = ", ".join(f"“{name[-80:]}”" for name in files[:_LISTED])
    more = f" and {len(files) - _LISTED} more" if len(files) > _LISTED else ""
    what = f"an archive (zip) that holds {shown}{more}" if files else "an empty archive (zip)"
    return of_members(names) or archive_type(what, unpacks=True)


def of_members(names: Collection[str]) -> Recognised | None:
    """Say what an archive is by the names of its parts, where it is a format of its own."""
    base = {name.rpartition("/")[2] for name in names}
    inside = set(names)
    torch = "data.pkl" in base
    office = "[Content_Types].xml" in inside
    it_is = {
        types.KERAS: {"config.json", "model.weights.h5"} <= inside,
        types.SKOPS: "schema.json" in inside,
        types.TORCHSCRIPT: torch
        and any("/code/" in name or name.endswith("constants.pkl") for name in names),
        types.PYTORCH: torch,
        types.MOJO: "model.ini" in base and any("domains/" in name for name in names),
        types.WORKBOOK: "mimetype" in inside
        or (office and any(name.startswith("xl/") for name in names)),
        types.DOCUMENT: office,
        types.ARRAYS: bool(names) and all(name.endswith(".npy") for name in names),
        types.SPARK: any(name.endswith("metadata/part-00000") for name in names),
        types.CORE_ML: any(name.endswith(".mlmodel") for name in names),
        types.JAVA: "META-INF/MANIFEST.MF" in inside,
    }
    return next((found for found, true in it_is.items() if true), None)


def _folder(path: Path) -> Recognised | None:
    """Recognise a folder that is a model of another program."""
    if (path / "metadata" / "part-00000").is_file():
        return types.SPARK
    for name, what, remedy in (
        ("MLmodel", "an MLflow model", "Choose the model’s own file in it, as model.pkl."),
        (
            "model.weights.h5",
            "a Keras model whose file was unpacked",
            "Choose the .keras file itself, as it was before.",
        ),
        ("checkpoint", "a folder of TensorFlow checkpoints", types.TF_CHECKPOINT.as_model),
        ("model.safetensors", "a model of Hugging Face", types.TORCH),
        ("pytorch_model.bin", "a model of Hugging Face", types.TORCH),
        ("predictor.pkl", "an AutoGluon model", types.SCORE_IT),
        ("Manifest.json", "a Core ML model", types.CORE_ML.as_model),
    ):
        if (path / name).is_file():
            return model_type(what, remedy)
    return None
