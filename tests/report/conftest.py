"""An audit with a run of each kind, for the kinds of report."""

import pytest

from tests.report import repairs
from tests.report.building import people_store, run_into
from tests.report.test_group_sections import RULES, TABLES, measured


@pytest.fixture(scope="session")
def measured_audit(tmp_path_factory):
    """Give an audit of pairs, groups, subgroups and a mitigation; no test changes it."""
    with people_store(tmp_path_factory.mktemp("audit"), ("sex", "job")) as store:
        run_into(store, "uniform", options={"samples": 100}, weights=[[1], [2], [1], [1], [1]])
        measured(store, "testsgd", RULES)
        measured(store, "groups", TABLES)
        measured(store, "repair-aequitas", repairs.FIGURES)
        yield store
