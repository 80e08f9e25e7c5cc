"""Runs shards on workers out of their order, and hands them over in it: no scheduler is needed."""

import io
from pathlib import Path

from fairdesk.audit.shards.dealing import dealing
from fairdesk.audit.shards.shard import Outcome
from fairdesk.audit.worker import frames, wire
from fairdesk.audit.worker.server import Guest
from fairdesk.errors import ERRORS
from fairdesk.results.events import Certificate, Found, Measured, Progress


class Inside:
    """A worker whose guest is this process: what is said crosses as bytes all the same."""

    def __init__(self):
        self._sent = io.BytesIO()
        self._guest = Guest(self._sent)

    def open_model(self, path, *, trusted=False):
        """Open a model, and return its card."""
        (answer,) = self._answers(wire.OpenModel(str(Path(path)), trusted))
        return answer.card

    def search(self, mapping, domain, inputs, run):
        """Run a method to its end."""
        request = io.BytesIO()
        frames.write(request, 1, wire.Search(mapping, domain, run, inputs))
        request.seek(0)
        *events, ended = self._answers(wire.read_to_guest(request).message)
        return Ran(events, ended.ending)

    def _answers(self, message):
        self._sent.seek(0)
        self._sent.truncate()
        self._guest.answer(frames.Frame(1, message))
        self._sent.seek(0)
        answers = []
        while (frame := wire.read_from_guest(self._sent)) is not None:
            answers.append(frame.message)
        if isinstance(answers[-1], wire.Failed):
            failed = answers[-1]
            raise ERRORS[failed.kind](failed.what, why=failed.why, remedy=failed.remedy)
        return answers


class Ran(Outcome):
    """What such a worker's search yields."""

    def close(self):
        """Do nothing: it is over."""


def ran(worker, audit, run, inputs, rng, at_once=3, lost=0.2):
    """Run a dealing's shards, ``at_once`` at a time, in a random order; some of them twice.

    Returns
    -------
    list[Event], Ending
        The merged events, and how the run ended.
    """
    divided = dealing(audit, run, inputs, at_once)
    waiting, ended, merged, following = [], {}, [], 0
    while not divided.done:
        while len(waiting) < at_once and (shard := divided.deal()) is not None:
            assert shard.index == following + len(waiting) + len(ended)
            waiting.append(shard)
        if waiting:
            shard = waiting.pop(rng.integers(len(waiting)))
            outcome = on(worker, audit, shard)
            if rng.random() < lost:  # as if its worker had died
                outcome = on(worker, audit, shard)
            ended[shard.index] = outcome
        while following in ended and not divided.done:
            merged += divided.take(following, ended.pop(following))
            following += 1
    return merged, divided.ending


def on(worker, audit, shard):
    """Run a shard on a worker."""
    return worker.search(audit.mapping, audit.domain, shard.inputs, shard.run)


def found(events):
    """Return the pairs that were found, with their partners, in a set."""
    return {
        (tuple(row), tuple(partner))
        for each in events
        if isinstance(each, Found)
        for row, partner in zip(each.rows.tolist(), each.partners.tolist(), strict=True)
    }


def figures(events):
    """Return the figures that were measured last."""
    measured = [each.figures for each in events if isinstance(each, Measured)]
    return measured[-1] if measured else ()


def last(events):
    """Return the last progress."""
    return [each for each in events if isinstance(each, Progress)][-1]


def certificate(events):
    """Return the last certificate."""
    return [each for each in events if isinstance(each, Certificate)][-1]
