"""The bounds that `tests.benchmarks.mutations` breaks on purpose are still where it breaks them."""

import pytest

from tests.benchmarks.mutations import MUTATIONS, ROOT


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_mutation_changes_what_is_there(name):
    mutation = MUTATIONS[name]
    assert mutation.before in (ROOT / mutation.module).read_text(encoding="utf-8")
    assert all((ROOT / test).is_file() for test in mutation.tests)
