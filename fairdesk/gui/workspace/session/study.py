"""One pair looked into: brought nearer to a real person, explained; kept in the audit file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Signal

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.runs.inspection import reopen
from fairdesk.audit.store.pair import MinimalPair, Pair, minimal_pair
from fairdesk.audit.store.store import Store
from fairdesk.audit.worker.client import Worker
from fairdesk.data.table import Table
from fairdesk.document.pairs import DataRow
from fairdesk.errors import FairDeskError
from fairdesk.gui.kit.threads import StoreThread, Task, in_background
from fairdesk.individual.surrogates.explanation import Explanation
from fairdesk.population.nearest import everywhere, nearest
from fairdesk.results.events import Rows
from fairdesk.wording import words
from fairdesk.wording.pairs import distance_text

T = TypeVar("T")

#: What is kept of a pair in the audit file, by its name there.
NEARER, WHY, WHY_NEARER = "minimal", "why", "why of minimal"


@dataclass(frozen=True)
class Form:
    """A pair in one of its two forms, as found or brought nearer, with what is known of it.

    Attributes
    ----------
    pair : Pair
        The two people.
    real : DataRow, optional
        The data row that is nearest to the first instance.
    why : Explanation, optional
        Once that was asked for.
    """

    pair: Pair
    real: DataRow | None
    why: Explanation | None


@dataclass(frozen=True)
class Known:
    """All that is known of a pair: as it was found, and as it was brought nearer if it was."""

    found: Form
    nearer: Form | None


class _Rows:
    """Reads the rows of the data once. Lives in the thread of the audit file."""

    def __init__(self, spec: AuditSpec) -> None:
        self._spec = spec
        self._read: tuple[Table, Rows, NDArray[np.intp]] | None = None

    def all(self, store: Store) -> Rows:
        """Return all rows of the domain: ``(m, d)``, as `Pair.nearest` counts them."""
        return self._held(store)[1]

    def nearest(self, store: Store, pair: Pair | MinimalPair) -> DataRow | None:
        """Return the row nearest to a pair's first instance; ``None`` where there is no row."""
        table, rows, places = self._held(store)
        if not len(rows):
            return None
        position, distance = pair.nearest, pair.distance
        if position is None or distance is None:
            domain = self._spec.domain
            position, distance = nearest(domain, rows, np.asarray(pair.row), everywhere(domain))
        place = int(places[position])
        label = table.index(self._spec.label)
        outcome = table.columns[label].text(table.codes[place, label])
        return DataRow(rows[position], distance, place + 1, outcome)

    def _held(self, store: Store) -> tuple[Table, Rows, NDArray[np.intp]]:
        if self._read is None:
            table, domain = store.table(), self._spec.domain
            self._read = table, domain.people(table), domain.places(table)
        return self._read


class Study(QObject):
    """Asks the model about one pair at a time, off the window's thread.

    The model is that of the run before, if there was one; else it is opened again.

    Signals
    -------
    changed
        It has begun to ask, is done, or another model may be asked.
    learned : int
        More is known of the pair of that number.
    failed : FairDeskError, callable
        Why nothing was learned, and how to try once more.
    """

    changed = Signal()
    learned = Signal(int)
    failed = Signal(object, object)

    def __init__(self, spec: AuditSpec, store: StoreThread, parent: QObject) -> None:
        super().__init__(parent)
        self._spec, self._store = spec, store
        self._rows = _Rows(spec)
        self._lent: Worker | None = None
        self._own: Worker | None = None
        self._task: Task | None = None
        self._asked = 0
        self.places: dict[Path, Path] = {}
        """Where files are now that are not where they were."""
        self.doing = ""
        """What is under way, for people; empty while nothing is."""

    def lend(self, worker: Worker) -> None:
        """Let another model be asked, one that somebody else has opened and will close."""
        self.cancel()
        self._lent = worker
        self._close_own()
        self.changed.emit()

    def recall(self, pair: Pair, done: Callable[[Known], object]) -> None:
        """Tell what is known of a pair; of several asked for in a row only the last."""
        people = self._rows

        def read(store: Store) -> Known:
            minimal = store.learned(pair.id, NEARER, MinimalPair)
            why = store.learned(pair.id, WHY, Explanation)
            found = Form(pair, people.nearest(store, pair), why)
            if minimal is None:
                return Known(found, None)
            why = store.learned(pair.id, WHY_NEARER, Explanation)
            real = people.nearest(store, minimal)
            return Known(found, Form(pair.brought(minimal), real, why))

        self._store.ask(read, done, key=(id(self), "recall"))

    def shrink(self, pair: Pair) -> None:
        """Bring a pair as near to a real person as it still gets different decisions."""
        spec = self._spec

        def call(worker: Worker, people: Rows) -> MinimalPair:
            found = worker.shrink(spec.mapping, spec.domain, people, pair.row[None])
            pair_now = found.rows, found.partners
            weighed = worker.score_plausibility(spec.domain, people, *pair_now)
            return minimal_pair(found, weighed, spec.mapping.favourable_class)

        def keep(store: Store, minimal: MinimalPair) -> None:
            said = (
                f"Pair {pair.id}: made more realistic, "
                f"distance to the data {distance_text(minimal.distance)}."
            )
            store.learn(pair.id, NEARER, minimal, said)

        doing = f"Pair {words.number(pair.id)}: making it more realistic…"
        self._begin(pair.id, doing, call, keep, lambda: self.shrink(pair))

    def explain(self, pair: Pair, what: str = WHY) -> None:
        """Explain why the two people of a pair are decided differently.

        Parameters
        ----------
        pair : Pair
            As it was found, or as it was brought nearer.
        what : str
            `WHY` or `WHY_NEARER`, accordingly.
        """
        spec = self._spec
        both = np.stack((pair.row, pair.partner))

        def call(worker: Worker, people: Rows) -> Explanation:
            return worker.explain(spec.mapping, spec.domain, people, both)

        def keep(store: Store, explanation: Explanation) -> None:
            store.learn(pair.id, what, explanation, f"Pair {pair.id}: explained.")

        doing = f"Pair {words.number(pair.id)}: querying the model…"
        self._begin(pair.id, doing, call, keep, lambda: self.explain(pair, what))

    def cancel(self) -> None:
        """Stop asking; what was learned before is kept."""
        if not self.doing:
            return
        if self._task is not None:
            self._task.drop()
        if self._lent is not None:
            self._lent.stop()
        self._close_own()
        self._end()

    def close(self) -> None:
        """Stop, and let the model go."""
        self.cancel()
        self._close_own()

    def _begin(
        self,
        pair_id: int,
        doing: str,
        call: Callable[[Worker, Rows], T],
        keep: Callable[[Store, T], None],
        again: Callable[[], None],
    ) -> None:
        """Read the real people, ask the model, keep the answer; each where it may be done."""
        if self.doing:
            return
        self._asked += 1
        number = self._asked
        self.doing = doing
        self.changed.emit()

        def current() -> bool:
            return bool(self.doing) and number == self._asked

        def fail(error: FairDeskError) -> None:
            if current():
                self._end()
                self.failed.emit(error, again)

        def done(_none: None) -> None:
            if current():
                self._end()
            self.learned.emit(pair_id)

        def ask(everybody: Rows) -> None:
            if current():
                self._task = in_background(
                    self,
                    self._with_model(lambda worker: call(worker, everybody)),
                    lambda answer: self._store.ask(lambda store: keep(store, answer), done, fail),
                    fail,
                )

        self._store.ask(self._rows.all, ask, fail)

    def _with_model(self, call: Callable[[Worker], T]) -> Callable[[], T]:
        """Make a call that opens the model first where that is needed."""
        if (worker := self._lent or self._own) is not None:
            open_worker = worker
            return lambda: call(open_worker)
        spec, places = self._spec, dict(self.places)
        worker = self._own = Worker()

        def work() -> T:
            try:
                reopen(spec, places, worker)
            except FairDeskError:
                worker.close()
                raise
            return call(worker)

        return work

    def _end(self) -> None:
        self._task, self.doing = None, ""
        if self._own is not None and not self._own.alive:
            self._close_own()
        self.changed.emit()

    def _close_own(self) -> None:
        if self._own is not None:
            self._own.close()
            self._own = None
