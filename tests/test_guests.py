"""The tests' own way of handing guests on."""

import sys

from fairdesk.audit.worker.client import Worker
from tests import guests
from tests.audit import fake_guest

QUICK_GUEST = (sys.executable, fake_guest.__file__)


def test_a_guest_is_started_only_where_none_is_left(shared_guests):
    guests.end_idle()
    first = Worker(command=QUICK_GUEST)
    child = first._child
    first.close()
    assert child.alive
    second = Worker(command=QUICK_GUEST)
    assert second._child is child
    child.kill()
