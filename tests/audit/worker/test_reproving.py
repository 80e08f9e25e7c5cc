"""Boxes are proven once more where the model is; what it answers is checked before it is taken."""

import io

import numpy as np
import pytest

from fairdesk.audit.worker import frames, wire
from fairdesk.audit.worker.client import Worker
from fairdesk.audit.worker.server import Guest
from fairdesk.certify.proof import certificate
from fairdesk.certify.proof.certificate import CONSISTENT, DISCRIMINATORY, Leaves, leaves
from fairdesk.certify.proof.reproof_check import BY_POINT, Reproof
from fairdesk.errors import WorkerError
from tests.certify import networks
from tests.certify.proof.test_verify import proof_of


@pytest.fixture(scope="module")
def case():
    attributes = [
        networks.number("debts", 7),
        networks.names("job", 3),
        networks.number("sex", 2, role=networks.Role.PROTECTED),
    ]
    return networks.small(attributes, [4], np.random.default_rng(3))


@pytest.fixture(scope="module")
def asked(case):
    """Return a certificate's header, its roots, and its boxes of one kind with what is asked."""
    header, arrays = proof_of(case)
    parts = leaves(arrays)
    part = Leaves(*(np.concatenate(each) for each in zip(*parts, strict=True)))
    verdict = arrays["verdict"][part.nodes]
    whole = (verdict == CONSISTENT) | (verdict == DISCRIMINATORY)
    roots = arrays["root_low"], arrays["root_high"]
    boxes = part.low[whole], part.high[whole]
    group = np.zeros(int(whole.sum()), dtype=np.int64)
    return header, roots, boxes, group, verdict[whole] == DISCRIMINATORY


def whole(*places):
    """Return places as they are sent."""
    return [each.astype(np.int64) for each in places]


def ask(model, asked, stated):
    """Let a guest with an open model answer, and give what it writes."""
    header, roots, boxes, group, _ = asked
    outgoing = io.BytesIO()
    guest = Guest(outgoing)
    guest._opened = model
    named = wire.Boxes(certificate.encoded(header).decode(), *whole(*roots, *boxes, group))
    guest.answer(frames.Frame(7, wire.Reprove(named, stated, 10.0)))
    outgoing.seek(0)
    return wire.read_from_guest(outgoing)


class Answering(Worker):
    """A worker whose process has said this."""

    def __init__(self, frame):
        self._frame = frame
        self._patience = type("Patience", (), {"answer": 1.0})

    def _answer(self, *_):
        return self._frame


def test_a_model_that_cannot_be_looked_into_is_no_defect(case, asked):
    frame = ask(object(), asked, np.ones((len(asked[3]), 2)))
    assert isinstance(frame.message, wire.Failed)
    assert frame.message.kind in ("SpecError", "WorkerError")


def test_boxes_are_proven_once_more_by_the_guest(case, asked):
    header, roots, boxes, group, discriminatory = asked
    stated = np.column_stack((~discriminatory, discriminatory)).astype(np.float64)
    for claims, contradicted in ((stated, 0), (1.0 - stated, BY_POINT)):
        frame = ask(case.fed.opened, asked, claims)
        found = Answering(frame).reprove(header, roots, *boxes, group, claims, 10.0)
        assert (found.contradicted == contradicted).all()
        if not contradicted:
            assert (
                np.column_stack((found.consistent, found.discriminatory)).tolist()
                == stated.tolist()
            )


@pytest.mark.parametrize(
    "told",
    [
        lambda n, low: (np.full(n, 1.5), np.zeros(n), np.zeros(n, dtype=np.int8), low),
        lambda n, low: (np.full(n, np.nan), np.zeros(n), np.zeros(n, dtype=np.int8), low),
        lambda n, low: (np.zeros(n), np.full(n, -0.5), np.zeros(n, dtype=np.int8), low),
        lambda n, low: (np.zeros(n), np.zeros(n), np.full(n, 3, dtype=np.int8), low),
        lambda n, low: (np.zeros(n), np.zeros(n), np.zeros(n, dtype=np.int8), low - 1),
        lambda n, low: (np.zeros(n), np.zeros(n), np.zeros(n + 1, dtype=np.int8), low),
    ],
)
def test_proofs_that_cannot_be_are_refused(asked, told):
    header, roots, boxes, group, discriminatory = asked
    stated = np.column_stack((~discriminatory, discriminatory)).astype(np.float64)
    frame = frames.Frame(1, wire.Reproved(Reproof(*told(len(group), boxes[0]))))
    with pytest.raises(WorkerError):
        Answering(frame).reprove(header, roots, *boxes, group, stated, 1.0)
