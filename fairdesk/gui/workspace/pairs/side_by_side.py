"""Two people side by side, and the real one who is nearest: what differs, and what follows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.pair import Pair
from fairdesk.gui.kit import theme, tips
from fairdesk.gui.kit.table_model import Index, TableModel
from fairdesk.gui.kit.tables import LEFT, read_only
from fairdesk.gui.workspace.session.nearest_rows import Real
from fairdesk.gui.workspace.session.session import Session
from fairdesk.models.decisions.rule import score_name
from fairdesk.wording import words
from fairdesk.wording.pairs import UNKNOWN, distance_text, entitled, outcomes

#: How wide the names of attributes are at most, and values at least where there is little room.
_NAMES, _VALUES = 180, 68
#: The line with what the data say of the nearest row.
RECORDED = "Recorded outcome"


@dataclass(frozen=True)
class Line:
    """One line of the comparison.

    Attributes
    ----------
    name : str
        An attribute, or what was decided.
    texts : tuple of str
        Of the two people, and of the real one.
    differs : bool
        The two people differ.
    strays : bool
        The real person differs from the first of the two.
    verdict : bool
        It tells what was decided.
    """

    name: str
    texts: tuple[str, str, str]
    differs: bool
    strays: bool = False
    verdict: bool = False


def compare(spec: AuditSpec, decisions: Sequence[str], pair: Pair, real: Real | None) -> list[Line]:
    """Write a pair and the real person as lines: what differs, the verdict, then the rest."""
    differing: list[Line] = []
    alike: list[Line] = []
    for position, attribute in enumerate(spec.domain.attributes):
        here, there = pair.row[position], pair.partner[position]
        theirs = None if real is None else real.person[position]
        line = Line(
            attribute.name,
            (
                attribute.text(here),
                attribute.text(there),
                UNKNOWN if theirs is None else attribute.text(theirs),
            ),
            differs=bool(here != there),
            strays=theirs is not None and bool(theirs != here),
        )
        (differing if line.differs else alike).append(line)
    verdict = []
    for field, one, other in outcomes(spec, pair, decisions.__getitem__):
        verdict.append(
            Line(entitled(spec, field.title), (one, other, ""), differs=one != other, verdict=True)
        )
    # instances have none, and what the model decides about the data row is another thing
    recorded = UNKNOWN if real is None else real.outcome
    texts = (recorded, "", "") if is_row(pair, real) else ("", "", recorded)
    verdict.append(Line(RECORDED, texts, differs=False, verdict=True))
    return [*differing, *verdict, *alike]


def is_row(pair: Pair, real: Real | None) -> bool:
    """Whether the first instance of a pair is a row of the data itself."""
    return real is not None and np.array_equal(real.person, pair.row)


def sentence(spec: AuditSpec, decisions: Sequence[str], pair: Pair) -> str:
    """Say in one sentence what a pair shows."""
    domain = spec.domain
    changed = [p for p in domain.protected.tolist() if pair.row[p] != pair.partner[p]]
    follow = [
        p for p in domain.differing.tolist() if p not in changed and pair.row[p] != pair.partner[p]
    ]
    verb = "changes" if len(changed) == 1 else "change"
    said = f"Only {_names(spec, changed)} {verb} ({_turns(spec, pair, changed)})"
    if follow:
        said += f", and {_names(spec, follow)} with it ({_turns(spec, pair, follow)})"
    here, there = decisions[pair.row_class], decisions[pair.partner_class]
    if pair.row_class == pair.partner_class:
        return (
            f"{said}, and the {score_name(spec.model).lower()} changes from "
            f"{words.score(spec, pair.row_score)} to {words.score(spec, pair.partner_score)}; "
            f"the decision stays “{here}”."
        )
    return (
        f"{said}, and the decision changes from “{here}” to “{there}”, from "
        f"{words.decision_word(spec, pair.row_class)} to "
        f"{words.decision_word(spec, pair.partner_class)}."
    )


def changes(spec: AuditSpec, before: Pair, after: Pair) -> str:
    """Say what was changed to bring a pair nearer to a real person, and how near it is now."""
    moved = [
        f"{words.quoted(attribute.name)} {attribute.text(before.row[p])} → "
        f"{attribute.text(after.row[p])}"
        for p, attribute in enumerate(spec.domain.attributes)
        if before.row[p] != after.row[p]
    ]
    if not moved and not before.distance:
        return "No change was needed: the instance equals a data row in every attribute compared."
    if not moved:
        return (
            "No further change is possible: any other value taken from the data row removes the "
            "difference."
        )
    was = "" if before.distance is None else f" (it was {distance_text(before.distance)})"
    now = f"Distance to the data row now: {distance_text(after.distance)}{was}."
    return f"{now} Changed: {words.some(moved, 6)}."


def _names(spec: AuditSpec, positions: Sequence[int]) -> str:
    return words.listed([spec.domain.attributes[p].name for p in positions])


def _turns(spec: AuditSpec, pair: Pair, positions: Sequence[int]) -> str:
    attributes = spec.domain.attributes
    return ", ".join(
        f"{attributes[p].text(pair.row[p])} to {attributes[p].text(pair.partner[p])}"
        for p in positions
    )


class SideBySide(TableModel):
    """Two people and the real one, as columns.

    Attributes
    ----------
    is_row : bool
        Whether the first of them is the real one.
    """

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self._lines: list[Line] = []
        self.is_row = False
        self._titles = ("", "Instance", "Counterfactual", "Nearest data row")
        self._strong = QFont()
        self._strong.setWeight(QFont.Weight.DemiBold)

    def show(self, pair: Pair, real: Real | None) -> None:
        """Show another pair; the lines stay where they are when it is the same one."""
        lines = compare(self._session.spec, self._session.decisions, pair, real)
        # one that is a row of the data is a person, not only an instance
        self.is_row = is_row(pair, real)
        first = f"Data row {words.number(real.row)}" if real and self.is_row else "Instance"
        self._titles = ("", first, *self._titles[2:])
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 1, 1)
        if [line.name for line in lines] == [line.name for line in self._lines]:
            self._lines = lines
            last = self.index(len(lines) - 1, len(self._titles) - 1)
            self.dataChanged.emit(self.index(0, 0), last)
            return
        self.beginResetModel()
        self._lines = lines
        self.endResetModel()

    def size(self) -> tuple[int, int]:
        """Return how many lines there are, and columns: a name and three people."""
        return len(self._lines), len(self._titles)

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Return the name of a column."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._titles[section]
        if role == Qt.ItemDataRole.ToolTipRole and section == 3:
            return tips.plain(
                "The row of the data that is nearest to the first instance, with its recorded "
                "outcome: the model’s decision about it is not shown. A dot marks the values "
                "that differ from the instance."
            )
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return LEFT | Qt.TextFlag.TextWordWrap.value
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return a cell: what differs in the heavier weight with a sign, what is equal dimmed."""
        line = self._lines[index.row()]
        column = index.column()
        cell: object = None
        if role == Qt.ItemDataRole.DisplayRole:
            cell = _text(line, column)
        elif role == Qt.ItemDataRole.FontRole and line.differs and column < 3:
            cell = self._strong
        elif role == Qt.ItemDataRole.ForegroundRole:
            cell = _colour(line, column)
        elif role == Qt.ItemDataRole.BackgroundRole and line.differs:
            cell = QColor(theme.colours().tint)
        elif role == Qt.ItemDataRole.ToolTipRole:
            cell = tips.plain(_text(line, column))
        elif role == Qt.ItemDataRole.AccessibleTextRole:
            differs = line.strays if column == 3 else line.differs and column > 0
            said = "differs" if differs else ""
            cell = f"{line.name}, {self._titles[column]}: {_text(line, column)} {said}".strip()
        return cell


def _colour(line: Line, column: int) -> QColor | None:
    colours = theme.colours()
    if line.verdict:
        return QColor(
            colours.discriminatory if line.differs and column in (1, 2) else colours.quiet
        )
    loud = line.strays if column == 3 else line.differs
    return None if loud else QColor(colours.quiet)


def _text(line: Line, column: int) -> str:
    if column == 0:
        return line.name
    text = line.texts[column - 1]
    if column == 2 and line.differs:
        return f"→ {text}"
    return f"{text} ·" if column == 3 and line.strays else text


class _Sides(QTableView):
    """Columns of one width, and where that is too little for a title less for the names.

    A value that is longer has several lines.
    """

    def __init__(self, names: Iterable[str]) -> None:
        super().__init__()
        widest = max(map(self.fontMetrics().horizontalAdvance, names))
        self._names = min(widest + theme.WIDE, _NAMES)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Divide the width."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.fit()

    def fit(self) -> None:
        """Divide the width, and be as high as the lines: what is around the table scrolls."""
        self._divide()
        head, model = self.verticalHeader(), self.model()
        strong = QFontMetrics(theme.scaled(self.font(), 1.0, strong=True))
        for row in range(head.count()):
            if any(
                strong.horizontalAdvance(str(model.index(row, column).data())) + 4 * theme.TIGHT
                > self.columnWidth(column)
                for column in range(model.columnCount())
            ):
                self.resizeRowToContents(row)
            else:
                head.resizeSection(row, head.defaultSectionSize())
        lines = head.length() + self.horizontalHeader().height()
        self.setFixedHeight(lines + 2 * self.frameWidth())

    def _divide(self) -> None:
        """Leave out the nearest data row where it is the first instance."""
        header, room, model = self.horizontalHeader(), self.viewport().width(), self.model()
        alone = isinstance(model, SideBySide) and model.is_row
        self.setColumnHidden(3, alone)
        sides, title = (1,) if alone else (1, 3), header.sectionSizeHint(2)
        names, middle = self._names, (room - self._names) // (1 + len(sides))
        if middle < title:
            names, middle = max(room - title - len(sides) * _VALUES, _NAMES // 2), title
        header.resizeSection(0, names)
        header.resizeSection(2, middle)
        for side in sides:
            header.resizeSection(side, (room - names - middle) // len(sides))


def side_by_side_table(model: SideBySide, names: Sequence[str]) -> QTableView:
    """Make the view of such a table; ``names`` are its lines'."""
    table = _Sides((*names, RECORDED))
    table.setModel(model)
    name = "Both instances side by side, and the nearest data row"
    read_only(table, name, line=theme.NEAR, single=True, whole=True)
    table.setAlternatingRowColors(False)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectItems)
    header = table.horizontalHeader()
    header.setSectionsClickable(False)
    header.setFixedHeight(table.fontMetrics().height() + theme.GAP)
    for changed in (model.modelReset, model.dataChanged):
        changed.connect(lambda *_at: table.fit())
    table.setWordWrap(True)
    header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    return table
