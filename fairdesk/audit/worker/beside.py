"""Starts the guest in an environment that FairDesk is not installed in: ``python -I beside.py``.

With a module's name, that is started instead of the guest.

Only FairDesk's own package is lent to it, and what ``--lend=FOLDER`` names: libraries of Python
alone that cannot be installed there. Were the folder around it put on the search path, an
installed FairDesk would lend every library beside it too, and the model would be opened with
those after all.
"""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from runpy import run_module

GUEST = "fairdesk.audit.worker.guest"
#: Before the folder of another package to be lent.
LEND = "--lend="


def lend(package: Path) -> None:
    """Make a package importable by its folder's name, and nothing that lies beside it."""
    spec = spec_from_file_location(
        package.name, package / "__init__.py", submodule_search_locations=[str(package)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{package} is not a package")
    module = sys.modules[package.name] = module_from_spec(spec)
    spec.loader.exec_module(module)


if __name__ == "__main__":
    lend(Path(__file__).resolve().parents[2])
    for each in sys.argv[1:]:
        if each.startswith(LEND):
            lend(Path(each[len(LEND) :]))
    named = [each for each in sys.argv[1:] if not each.startswith("-")]
    run_module(named[0] if named else GUEST, run_name="__main__")
