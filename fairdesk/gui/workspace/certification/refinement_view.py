"""How the people were divided: the icicle, the way to the part that is looked at, what it is."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QMenu, QSizePolicy, QToolButton, QWidget

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.pair import Pair
from fairdesk.audit.store.records import PairQuery
from fairdesk.audit.store.store import Store
from fairdesk.charts.kinds.icicle import Tree
from fairdesk.charts.verdicts import MARKS, NAMES, sentence, shown
from fairdesk.gui.charts.icicle import Icicle
from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.workspace.session.session import Session
from fairdesk.results.conditions import Condition
from fairdesk.results.proofs import Refinement
from fairdesk.results.rounding import exactly
from fairdesk.wording import proofs as proof_words
from fairdesk.wording import rules as rule_words
from fairdesk.wording import words

#: Of a run's examples at most so many are looked at for one that lies in a part.
_MOST_LOOKED_AT = 2_000
#: Steps of the way that are shown; those between are behind a menu.
_MOST_STEPS = 4


def tree_of(spec: AuditSpec, refinement: Refinement) -> Tree:
    """Make an icicle of a refinement, its conditions in words."""
    parts = refinement.parts
    steps = []
    for part in parts:
        above = parts[part.parent].conditions if part.parent >= 0 else ()
        steps.append([each for each in part.conditions if each not in above])
    boxes = chain((part.conditions for part in parts), steps)
    texts = tuple(map(_capital, rule_words.rule_texts(spec, boxes)))
    return Tree(
        parts,
        texts[: len(parts)],
        texts[len(parts) :],
        "the input domain",
        title="How the input domain was divided",
    )


def outside_sentence(tree: Tree) -> str:
    """Say how much of the domain lies outside of the first part that is seen divided."""
    share = shown("undecided", 1 - exactly(tree.parts[tree.first_divided].share))
    return (
        f"Outside of this region is {share} of {tree.whole}, too little to be drawn. Few "
        "combinations may stand for many individuals."
    )


def _capital(text: str) -> str:
    return text if text != "all combinations" else "All combinations"


class Inside(NamedTuple):
    """The examples of a run that lie in a part: the part, and pairs, the first of them whole."""

    part: int
    pairs: tuple[int, ...]
    first: Pair | None


def examples_inside(store: Store, run: int, part: int, conditions: Sequence[Condition]) -> Inside:
    """Look among a run's first examples for those that lie in a box."""
    where: dict[str, str | tuple[float, float]] = {}
    for each in conditions:
        low = min(each.codes) if each.codes else each.low
        high = max(each.codes) if each.codes else each.high
        where[each.attribute] = (
            float("-inf") if low is None else low,
            float("inf") if high is None else high,
        )
    names = store.spec.domain.names
    listed = [(names.index(each.attribute), each.codes) for each in conditions if each.codes]
    inside = [
        pair
        for pair in store.pairs(PairQuery(run=run, where=where), 0, _MOST_LOOKED_AT)
        if all(pair.row[place] in codes for place, codes in listed)
    ]
    return Inside(part, tuple(pair.id for pair in inside), inside[0] if inside else None)


class RefinementView(QWidget):
    """The icicle with the way above it, and at its side a card about the part that is chosen.

    Signals
    -------
    show_examples : int, object
        A run's examples of these numbers are to be shown; of no numbers all.
    """

    show_examples = Signal(int, object)

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._run = self._found = 0
        self._shown: Refinement | None = None
        self._inside: tuple[int, ...] = ()
        self.icicle = Icicle()
        session.hear(self.icicle)
        self.icicle.chosen.connect(self._tell)
        self.icicle.rooted.connect(self._show_way)
        self._way = layouts.row(spacing=0)
        self._card = self._make_card()
        self._outside = parts.quiet()
        left = layouts.column(
            self._way, self._outside, layouts.grow(self.icicle), spacing=theme.TIGHT
        )
        layouts.row(layouts.grow(left), self._card, on=self, spacing=theme.WIDE)

    def show_refinement(self, run: int, found: int, refinement: Refinement) -> None:
        """Show how a run divided the people.

        Parameters
        ----------
        run, found : int
            Its number, and how many examples it has.
        """
        before = (self._run, self._found, self._shown)
        self._run, self._found, self._shown = run, found, refinement
        if before == (run, found, refinement):
            return
        if run != before[0]:
            self.icicle.draw(Tree())
        if refinement != before[2] or run != before[0]:
            self.icicle.draw(tree_of(self._session.spec, refinement))
        else:
            self._tell(self.icicle.chosen_part)

    # Parts

    def _make_card(self) -> parts.Card:
        card = parts.Card(margin=theme.GAP)
        card.setFixedWidth(round(17.5 * self.fontMetrics().height()))
        self._rule = parts.Words(size=1.12, strong=True)
        self._share = parts.Words()
        self._verdicts = {verdict: parts.Words(wrap=False) for verdict in MARKS}
        self._example = parts.quiet()
        self._show = parts.push_button(
            "&Show pairs", lambda: self.show_examples.emit(self._run, self._inside)
        )
        self._into = parts.push_button(
            "Zoom &in", lambda: self.icicle.go_into(self.icicle.chosen_part)
        )
        self._into.setToolTip("Zoom in to this region (Enter)")
        for each in (self._rule, self._share, *self._verdicts.values(), self._example):
            each.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        card.body.addWidget(self._rule)
        card.body.addWidget(self._share)
        for verdict, said in self._verdicts.items():
            line = layouts.row(
                parts.Words(MARKS[verdict], tone=verdict, strong=True, wrap=False),
                layouts.grow(said),
                spacing=theme.TIGHT,
            )
            card.body.addLayout(line)
        card.body.addStretch(1)
        card.body.addWidget(self._example)
        for button in (self._show, self._into):
            card.body.addWidget(button)
        return card

    # What happens

    def _show_way(self, root: int) -> None:
        """Show the way from everybody to the part that is the whole picture."""
        parts.clear(self._way)
        tree = self.icicle.drawing
        path = tree.path(root)
        self._outside.setText(outside_sentence(tree))
        self._outside.setVisible(0 < root == tree.first_divided)
        up = QToolButton()
        up.setText("↑ Up")
        up.setToolTip("Back to the enclosing region (Backspace)")
        up.setEnabled(bool(root))
        up.clicked.connect(self.icicle.go_up)
        self._way.addWidget(up)
        self._way.addSpacing(theme.NEAR)
        shown = path if len(path) <= _MOST_STEPS else [path[0], *path[1 - _MOST_STEPS :]]
        hidden = [each for each in path if each not in shown]
        buttons: list[QWidget] = [up]
        for place, number in enumerate(shown):
            if place:
                self._way.addWidget(parts.Words("›", tone="quiet", wrap=False))
            if place == 1 and hidden:
                more = self._make_more(hidden)
                buttons.append(more)
                self._way.addWidget(more)
                self._way.addWidget(parts.Words("›", tone="quiet", wrap=False))
            step = _Step(tree.steps[number], here=number == root)
            step.setToolTip(tree.rules[number].replace("<", "&lt;"))
            step.clicked.connect(lambda _on=False, to=number: self.icicle.go_into(to))
            buttons.append(step)
            self._way.addWidget(step)
        self._way.addStretch(1)
        parts.in_order(*buttons, self.icicle, self._show, self._into)

    def _make_more(self, hidden: Sequence[int]) -> QToolButton:
        more = QToolButton()
        more.setText("…")
        more.setAutoRaise(True)
        more.setAccessibleName("Regions in between")
        more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(more)
        for number in hidden:
            text = self.icicle.drawing.steps[number].replace("&", "&&")
            menu.addAction(parts.action(menu, text, partial(self.icicle.go_into, number)))
        more.setMenu(menu)
        return more

    def _tell(self, number: int) -> None:
        """Say what is known of the part that is chosen."""
        tree = self.icicle.drawing
        part = tree.parts[number]
        self._rule.setText(tree.rules[number])
        self._share.setText(f"{tree.size(number)} of {tree.whole}.")
        shares = tree.shares(number)
        for verdict, share in shares.items():
            said = sentence(verdict, shown(verdict, share))
            if verdict != "undecided" and (share or not shares["undecided"]):
                said += ": proven"
            elif verdict != "undecided":
                said = f"{NAMES[verdict]}: {proof_words.NONE_PROVEN}"
            self._verdicts[verdict].setText(said)
        self._into.setEnabled(bool(tree.children[number]) and number != self.icicle.root)
        self._example.setText("")
        self._show.setVisible(bool(self._found))
        self._inside = ()
        self._show.setText("&Show pairs")
        if self._found:
            run, conditions = self._run, part.conditions
            self._session.store.ask(
                lambda store: examples_inside(store, run, number, conditions),
                self._take_inside,
                key=(id(self), "inside"),
            )
        self._card.setAccessibleName(tree.describe(number))

    def _take_inside(self, inside: Inside) -> None:
        if self.icicle.drawing.empty or inside.part != self.icicle.chosen_part:
            return
        self._inside = inside.pairs
        if inside.first is None:
            self._example.setText("None of the run’s pairs lies in this region.")
            self._show.setText("&Show all pairs")
            return
        self._example.setText(self._say_pair(inside.first))
        count = len(inside.pairs)
        self._show.setText("&Show this pair" if count == 1 else f"&Show {count:,} pairs")

    def _say_pair(self, pair: Pair) -> str:
        """Say who of a pair gets which decision."""
        spec, decisions = self._session.spec, self._session.decisions
        said = []
        for row, decided in ((pair.row, pair.row_class), (pair.partner, pair.partner_class)):
            values = [
                f"{words.quoted(spec.domain.names[i])} = {spec.domain.attributes[i].text(row[i])}"
                for i in spec.domain.protected
            ]
            said.append(f"{', '.join(values)}: {decisions[decided]}")
        return f"Example, pair {pair.id}. {'; '.join(said)}."


class _Step(QToolButton):
    """One step of the way; cut where there is no room for it."""

    def __init__(self, text: str, *, here: bool) -> None:
        super().__init__()
        self.setText(parts.short(text, 34).replace("&", "&&"))
        self.setAccessibleName(text)
        self.setAutoRaise(True)
        self.setFont(theme.scaled(self.font(), 1.0, strong=here))
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(24)
