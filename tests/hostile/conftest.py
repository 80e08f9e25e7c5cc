"""An audit that is open while hostile files are."""

from tests.audit.conftest import card, spec, store, table

__all__ = ["card", "spec", "store", "table"]
