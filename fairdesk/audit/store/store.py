"""The audit file: one SQLite database that holds everything an audit asked and found."""

from __future__ import annotations

from fairdesk.audit.store.parts.artifacts import Artifacts
from fairdesk.audit.store.parts.documents import Documents
from fairdesk.audit.store.parts.evidence import Evidence
from fairdesk.audit.store.parts.pairs import Pairs
from fairdesk.audit.store.parts.runs import Runs


class Store(Runs, Pairs, Artifacts, Documents, Evidence):
    """An open audit file, with all that is kept in it.

    Made by `create`, `open` or `read`; one instance per thread of use.
    """
