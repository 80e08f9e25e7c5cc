"""The small domains of the searches' tests."""

from tests.individual.conftest import small_domain

__all__ = ["small_domain"]
