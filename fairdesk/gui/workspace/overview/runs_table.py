"""The runs of an audit, one row each."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction

from fairdesk.answers import main_shares
from fairdesk.audit.catalogue.method import ABOUT_GROUPS, QuestionKind
from fairdesk.audit.catalogue.methods import METHODS, method_named
from fairdesk.audit.store.records import RunRecord
from fairdesk.gui.kit import parts
from fairdesk.gui.kit.keys import shortcut
from fairdesk.gui.kit.tables import TextTable
from fairdesk.gui.workspace.common.run_page import can_go_on, shares
from fairdesk.gui.workspace.common.steps import OF_STATE
from fairdesk.results.groups import GroupTable
from fairdesk.wording import mitigation as mitigation_words
from fairdesk.wording import proofs as proof_words
from fairdesk.wording import words
from fairdesk.wording.figures import share_cell
from fairdesk.wording.groups.sentences import best_so_far, looked_at
from fairdesk.wording.proofs import neighbourhood_counts, neighbourhoods_of

_HEADER = ("Run", "Method", "State", "Result", "Time", "Seed")
_NUMBERS = (3, 4, 5)
_KEYS = (
    "Enter opens the results of a run; S repeats it with another random seed, C continues it, V "
    "compares it."
)
Act = Callable[[int], object]


class RunsTable(TextTable):
    """The runs; keys, a menu and buttons of the page do the same with the one that is chosen.

    Parameters
    ----------
    repeat, go_on, compare : callable
        Make the run of a number again with another seed, continue it, or compare it.
    """

    def __init__(self, repeat: Act, go_on: Act, compare: Act) -> None:
        super().__init__("Runs of this audit", _HEADER, _NUMBERS, description=_KEYS, most=1_000)
        self._runs: tuple[RunRecord, ...] = ()
        show = partial(self._do, lambda _number: self.opened.emit(self.chosen))
        self.addAction(parts.action(self, "Show the results of the selected run", show))
        #: What can be done with the chosen run, and whether it can.
        self.acts: dict[QAction, Callable[[RunRecord], bool]] = {
            shortcut(self, keys, partial(self._do, act), text): can
            for keys, act, text, can in (
                ("S", repeat, "Repeat the selected run with another seed", lambda _run: True),
                ("C", go_on, "Continue the selected run", _goes_on),
                ("V", compare, "Compare the selected run with others", _searches),
            )
        }
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        self.itemSelectionChanged.connect(self._offer)
        self._offer()

    def run_at(self, row: int) -> RunRecord | None:
        """Return a run by its row, if there is one."""
        return self._runs[row] if 0 <= row < len(self._runs) else None

    def show_runs(self, runs: tuple[RunRecord, ...]) -> None:
        """Show the runs, with their seeds where these differ; the one that is chosen stays so."""
        self._runs = runs
        places = len(_HEADER) - (len({run.spec.seed for run in runs}) < 2)
        self.show_rows([_texts(run)[:places] for run in runs], header=_HEADER[:places])
        self._offer()

    def _do(self, act: Act) -> None:
        if (run := self.run_at(self.chosen)) is not None:
            act(run.id)

    def _offer(self) -> None:
        run = self.run_at(self.chosen)
        for action, can in self.acts.items():
            action.setEnabled(run is not None and can(run))


def _texts(run: RunRecord) -> tuple[str, ...]:
    # who stopped it is said on the page of the run; here the numbers need the room
    state = "stopped" if run.state == "stopped" else words.state_word(run.state)
    after = f", continues {run.spec.continues}" if run.spec.continues else ""
    return (
        str(run.id),
        f"{METHODS[run.spec.method].short_title}{after}",
        f"{OF_STATE[run.state].value} {state}",
        _result(run),
        words.duration(run.elapsed),
        str(run.spec.seed),
    )


def _goes_on(run: RunRecord) -> bool:
    return can_go_on(run) or (run.found > 0 and _searches(run))


def _searches(run: RunRecord) -> bool:
    return method_named(run.method).answers is QuestionKind.EXAMPLES


def _result(run: RunRecord) -> str:
    """Say what came of a run: a count, what is proven, a share with its interval, or nothing."""
    if _searches(run):
        return f"{words.counted(run.found, 'pair')} found"
    if (proven := proof_words.main_proof(run.figures)) is not None:
        return proof_words.standing_of(proven)
    if (around := neighbourhoods_of(run.figures)) is not None:
        return neighbourhood_counts(around)
    if method_named(run.method).answers in ABOUT_GROUPS:
        return _groups_result(run)
    if method_named(run.method).answers is QuestionKind.REPAIR:
        fall = mitigation_words.fall_text(run.figures)
        return fall or mitigation_words.effort_text(run.figures) or "–"
    measured = main_shares(shares(run))
    return share_cell(measured[0], run.figures) if measured else "–"


def _groups_result(run: RunRecord) -> str:
    """Say what a run about groups came to: how many rule sets, and the greatest difference."""
    if any(isinstance(each, GroupTable) for each in run.figures):
        return "rates by group"
    return ", ".join(filter(None, (looked_at(run.figures), best_so_far(run.figures)))) or "–"
