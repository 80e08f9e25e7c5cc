"""The audit file: one SQLite database that holds everything an audit asked and found."""

from __future__ import annotations

from fairdesk.audit.store.artifacts import Artifacts
from fairdesk.audit.store.documents import Documents
from fairdesk.audit.store.evidence import Evidence
from fairdesk.audit.store.pairs import Pairs
from fairdesk.audit.store.runs import Runs


class Store(Runs, Pairs, Artifacts, Documents, Evidence):
    """An open audit file, with all that is kept in it.

    Made by `create`, `open` or `read`; one instance per thread of use.
    """
