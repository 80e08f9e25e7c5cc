"""Lends models of text the language that they ask the operating system for."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

#: Where glibc keeps the locale without a language: Unicode's own rules for letters.
_NEUTRAL = tuple(
    Path(root) / name
    for root in ("/usr/lib/locale", "/usr/share/locale", "/usr/lib64/locale")
    for name in ("C.utf8", "C.UTF-8")
)
#: Languages with rules of their own for upper and lower case.
_OTHER_RULES = frozenset({"az", "lt", "tr"})
_NAME = re.compile(r"([a-z]{2,3})(_[A-Z]{2})?\.(UTF-8|utf8|utf-8)")


def lend(name: str) -> bool:
    """Make a locale known to this process under a name that the system does not have.

    It has the rules for letters that all languages share but the Turkic and Lithuanian ones. It
    is seen by what looks for locales afterwards, until the process ends; nothing outside of the
    process's own temporary folder changes.

    Parameters
    ----------
    name : str
        ``"en_US.UTF-8"``.

    Returns
    -------
    bool
        Whether that was possible.
    """
    spelt = _NAME.fullmatch(name)
    neutral = next((folder for folder in _NEUTRAL if (folder / "LC_CTYPE").is_file()), None)
    if not sys.platform.startswith("linux") or not spelt or neutral is None:
        return False
    if spelt[1] in _OTHER_RULES:
        return False
    try:
        folder = Path(tempfile.mkdtemp(prefix="locale-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        (folder / name).symlink_to(neutral)
    except OSError:
        return False
    known = os.environ.get("LOCPATH")
    os.environ["LOCPATH"] = f"{known}:{folder}" if known else str(folder)
    return True
