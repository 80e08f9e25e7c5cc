"""Where things lie on disk, and fingerprints of files."""

from __future__ import annotations

import hashlib
from pathlib import Path

import platformdirs

_PACKAGE = Path(__file__).resolve().parent


def resources() -> Path:
    """Give the folder of the built-in samples, icons and help."""
    bundled = _PACKAGE / "_resources"
    return bundled if bundled.is_dir() else _PACKAGE.parent / "resources"


def log_folder() -> Path:
    """Give the folder of the log files, made when it is missing."""
    return platformdirs.user_log_path("FairDesk", appauthor=False, ensure_exists=True)


def settings_folder() -> Path:
    """Give the folder of the user's settings, made when it is missing."""
    return platformdirs.user_config_path("FairDesk", appauthor=False, ensure_exists=True)


def environments_folder() -> Path:
    """Give the folder of the environments for models of other versions, which may be missing."""
    return platformdirs.user_cache_path("FairDesk", appauthor=False) / "environments"


def sha256(path: Path) -> str:
    """Fingerprint a file.

    Returns
    -------
    str
        64 lower-case hexadecimal digits.
    """
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
