"""Where things lie on disk, and fingerprints of files."""

from __future__ import annotations

import hashlib
from pathlib import Path

import platformdirs

#: So many bytes are read at once.
_PIECE = 1 << 20
_PACKAGE = Path(__file__).resolve().parent


def resources() -> Path:
    """Return the folder of the built-in samples, icons and fonts."""
    return _beside("resources")


def documentation() -> Path:
    """Return the folder of the documentation's pages and pictures."""
    return _beside("docs")


def _beside(name: str) -> Path:
    """Return a folder of the checkout; an installed package holds it itself (pyproject.toml)."""
    bundled = _PACKAGE / f"_{name}"
    return bundled if bundled.is_dir() else _PACKAGE.parent / name


def log_folder() -> Path:
    """Return the folder of the log files, made when it is missing."""
    return platformdirs.user_log_path("FairDesk", appauthor=False, ensure_exists=True)


def settings_folder() -> Path:
    """Return the folder of the user's settings, made when it is missing."""
    return platformdirs.user_config_path("FairDesk", appauthor=False, ensure_exists=True)


def environments_folder() -> Path:
    """Return the folder of the environments for models of other versions, which may be missing."""
    return platformdirs.user_cache_path("FairDesk", appauthor=False) / "environments"


def finished_folder() -> Path:
    """Return the folder of the finished audits of the samples, which may be missing."""
    return platformdirs.user_data_path("FairDesk", appauthor=False) / "samples"


def sha256(path: Path) -> str:
    """Fingerprint a file, or a folder with all that is in it.

    Returns
    -------
    str
        64 lower-case hexadecimal digits. Of a folder: the digest of the sorted lines
        ``digest  path`` of its files, as `sha256sum` prints them.
    """
    if not path.is_dir():
        with path.open("rb") as stream:
            digest = hashlib.sha256()
            while piece := stream.read(_PIECE):
                digest.update(piece)
            return digest.hexdigest()
    lines = [
        f"{sha256(each)}  {each.relative_to(path).as_posix()}\n"
        for each in sorted(path.rglob("*"))
        if each.is_file()
    ]
    return hashlib.sha256("".join(lines).encode(errors="surrogateescape")).hexdigest()
