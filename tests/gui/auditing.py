"""Audits to show in a window, and a worker that needs no second process."""

import threading
import time
from contextlib import contextmanager

import numpy as np

from fairdesk.audit.store.store import Store
from fairdesk.audit.worker.client import Searching
from fairdesk.data.formats.reading import read_table
from fairdesk.errors import WorkerError
from fairdesk.gui.kit.threads import StoreThread
from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.realism import minimal
from fairdesk.individual.searches import uniform
from fairdesk.individual.surrogates import explanation
from fairdesk.population.nearest import gower
from fairdesk.results.events import Found
from tests.plausible import scored
from tests.report.building import Formula, run_into, spec_of, write_people

PROTECTED = ("sex", "age")


def make_audit(folder, *, runs=1, protected=PROTECTED, samples=400):
    """Make an audit file, with runs of uniform sampling in it; gives its path."""
    people = folder / "people.csv"
    write_people(people)
    table = read_table(people)
    path = folder / "credit.fairdesk"
    with Store.create(path, spec_of(table, "credit", "yes", protected), table) as store:
        for seed in range(runs):
            run_into(store, "uniform", seed=seed, options={"samples": samples})
    return path


class Scales:
    """Weighs people in the caller's thread, as far as they are told to.

    Parameters
    ----------
    hold : threading.Event, optional
        Wait for it before each answer.
    """

    def __init__(self, hold=None, command=()):
        self.hold, self.calls, self.closed = hold, 0, False

    def score_plausibility(self, domain, people, rows, partners):
        self._wait()
        distance = np.empty((len(rows), len(people)))
        for place, row in enumerate(rows):
            if self.closed:
                raise WorkerError("The model process was closed.")
            distance[place] = gower(domain, people, row)
        least = distance.min(axis=1)
        return scored(least, distance.argmin(axis=1), 1 - least)

    def close(self):
        self.closed = True

    def _wait(self):
        self.calls += 1
        while self.hold is not None and not self.hold.wait(0.01):
            if self.closed:
                raise WorkerError("The model process was closed.")


class Scholar(Scales):
    """Answers about pairs in the caller's thread, of a formula in place of a model."""

    alive = True

    def shrink(self, mapping, domain, people, rows):
        self._wait()
        return minimal.shrink(SearchContext(Formula(domain), domain), people, rows)

    def explain(self, mapping, domain, people, pair, seed=0):
        self._wait()
        rng = np.random.default_rng(seed)
        context = SearchContext(Formula(domain), domain)
        return explanation.explain(context, people, pair, mapping.favourable_class, rng)


class FakeWorker:
    """Searches a formula in the caller's thread; fails, waits or stops as it is told.

    Parameters
    ----------
    fail_after : int, optional
        Raise a `WorkerError` after so many events.
    hold : threading.Event, optional
        Wait for it before the last events.
    """

    def __init__(self, fail_after=None, hold=None):
        self.fail_after, self.hold = fail_after, hold
        self.paused = False
        self.closed = False
        self._stopped = threading.Event()

    def search(self, mapping, domain, inputs, run):
        if not self.closed:
            # a stop is for one run
            self._stopped.clear()
        return Searching(self._events(domain, inputs.people, run))

    def _events(self, domain, people, run):
        options = uniform.UniformOptions(**run.options)
        events = uniform.search(
            SearchContext(Formula(domain), domain), people, options, np.random.default_rng(run.seed)
        )
        for number, event in enumerate(events):
            while self.paused and not self._stopped.is_set():
                time.sleep(0.005)
            if number == self.fail_after:
                raise WorkerError("The process that holds the model died.")
            if number and self.hold is not None and not isinstance(event, Found):
                while not self.hold.wait(0.01) and not self._stopped.is_set():
                    pass
            if self._stopped.is_set():
                return "stopped"
            yield event
        return "done"

    def pause(self):
        self.paused = True

    def resume(self):
        self.paused = False

    def stop(self):
        self._stopped.set()

    def close(self):
        self.closed = True
        self.stop()


@contextmanager
def store_thread(path, owner):
    """A store thread that is closed in the end."""
    thread = StoreThread(path, owner)
    try:
        yield thread
    finally:
        thread.close()


def said_of(workspace, question):
    """Return what the overview shows of a question: number, label, sentence and details."""
    answer = workspace.overview.cards[question].answer
    said = answer.said
    shown = (said.value, said.label, said.sentence, *answer.details)
    return " ".join(shown).replace("\u00a0", " ")
