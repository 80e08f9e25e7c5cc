"""What methods about groups compare: bins of protected numbers, or a text and terms in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np
from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QComboBox, QLineEdit, QPushButton, QWidget

from fairdesk.audit.catalogue.methods import method_named
from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.runs.run import check_rules
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Column, Kind
from fairdesk.errors import SpecError
from fairdesk.groups.text.terms import TERMS
from fairdesk.gui.kit import hints, layouts, theme
from fairdesk.gui.kit.fields import bounded, labelled, line
from fairdesk.gui.kit.parts import Card, Words, clear, heading, push_button, quiet, short
from fairdesk.wording.words import plural

Edges = dict[str, tuple[float, ...]]
Terms = dict[str, tuple[str, ...]]


def usual_edges(column: Column, bins: int) -> tuple[float, ...]:
    """Return the inner edges of so many bins of equal width: rounded, for they are to be read.

    Whole numbers have no more bins than values.
    """
    whole = column.kind is Kind.INTEGER
    span = column.high - column.low + whole
    if whole and span <= bins:
        return tuple(np.arange(column.low + 1, column.high + 1).tolist())
    inner = column.low + span * np.arange(1, bins) / bins
    if whole:
        return tuple(np.unique(np.ceil(inner)).tolist())
    digits = int(4 - np.floor(np.log10(span))) if span > 0 else 0
    return tuple(np.unique(np.round(inner, digits)).tolist())


class RulesForm(Card):
    """Asks what a method about groups compares; hidden where there is nothing to ask.

    Signals
    -------
    changed
        The auditor answered something else.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._run = RunSpec("testsgd")
        self._domain: Domain | None = None
        self._edges: Edges = {}
        self._terms: Terms = {}
        #: Per protected number the field with the edges of its bins.
        self.edges: dict[str, QLineEdit] = {}
        self._filled: dict[str, str] = {}
        #: The categories with their terms, one pair of fields each.
        self.categories: list[tuple[QLineEdit, QLineEdit]] = []
        self.about = bounded(QComboBox(), 30)
        self.about.currentIndexChanged.connect(self._choose)
        choice = labelled(
            "Co&mpare",
            self.about,
            "Either groups of people, or sentences with different identity terms.",
        )
        self._about = layouts.panel(choice)
        self._bins, self._texts = QWidget(), QWidget()
        self._numbers = layouts.grid(across=theme.PAGE, down=theme.GAP, stretches=(1, 1))
        self._lines = layouts.grid(stretches=(1, 5))
        self.wrong = Words(tone="wrong")
        self._lay_out()
        self.hide()

    def show_run(
        self, run: RunSpec, domain: Domain, columns: Iterable[Column], person: str
    ) -> None:
        """Show what a run compares, and what it could.

        Parameters
        ----------
        run : RunSpec
            Of a method about groups; for others the form is hidden. Its ``bins`` option says how
            wide bins are that nobody has given edges.
        """
        self._run, self._domain = run, domain
        method = method_named(run.method)
        texts = [domain.names[i] for i in domain.texts.tolist()] if method.reads else []
        with QSignalBlocker(self.about):
            self.about.clear()
            if domain.grouping:
                self.about.addItem(f"groups of {plural(person)}, by protected attributes", "")
            for name in texts:
                self.about.addItem(f"identity terms in the texts of “{short(name, 30)}”", name)
            self.about.setCurrentIndex(max(self.about.findData(run.text), 0))
        numbers = {each.name for each in domain.grouping if not each.values and method.divides}
        self._edges, self._terms = dict(run.edges), dict(run.terms)
        self._show_numbers([each for each in columns if each.name in numbers])
        self._show_terms(run.terms or TERMS)
        self._about.setVisible(bool(texts))
        self.setVisible(bool(texts or numbers))
        self._fit()

    @property
    def offers_texts(self) -> bool:
        """Whether there are texts that could be compared."""
        return not self._about.isHidden()

    @property
    def answers(self) -> RunSpec:
        """The run with what was asked for."""
        text = str(self.about.currentData() or "") if self.offers_texts else ""
        edges, terms = ({}, dict(self._terms)) if text else (dict(self._edges), {})
        return msgspec.structs.replace(self._run, text=text, edges=edges, terms=terms)

    # -- building -----------------------------------------------------------------------------

    def _lay_out(self) -> None:
        self.body.setSpacing(theme.GAP)
        self.body.addWidget(heading("What to compare"))
        self.body.addWidget(self._about)
        self._around = layouts.column(
            quiet(
                "Numeric protected attributes are divided into bins. Each boundary starts a "
                "bin: 25, 40 gives under 25, 25 to under 40, and 40 and over. An empty field "
                "gives the default bins."
            ),
            self._numbers,
            on=self._bins,
        )
        self.more = push_button("Add a cate&gory", lambda: self._add_category("", ()))
        self.paper = push_button("Reset to the &paper’s terms", self._back_to_paper)
        row = layouts.row(self.more, self.paper, layouts.stretch(), spacing=theme.GAP)
        layouts.column(
            quiet(
                "Each category has identity terms, separated by commas. A sentence with one "
                "of them is compared with the same sentence with another term of its "
                "category."
            ),
            self._lines,
            row,
            on=self._texts,
        )
        for widget in (self._bins, self._texts, self.wrong):
            self.body.addWidget(widget)

    def _show_numbers(self, columns: Sequence[Column]) -> None:
        bins = int(self._run.options.get("bins", 0)) or _usual_bins(self._run.method)
        usual = {each.name: _written(usual_edges(each, bins)) if bins else "" for each in columns}
        if usual == self._filled and all(
            _read(self.edges[name].text()) == edges for name, edges in self._edges.items()
        ):
            return
        clear(self._numbers)
        self.edges, self._filled = {}, usual
        for place, column in enumerate(columns):
            name = column.name
            field = line(
                _written(self._edges.get(name, ())) or usual[name],
                prompt=usual[name] or "by its tested values",
            )
            field.textEdited.connect(lambda text, name=name: self._give_edges(name, text))
            self.edges[name] = field
            low, high = column.text(column.low), column.text(column.high)
            label = f"Bin boundaries of {short(name, 30).replace('&', '&&')}, from {low} to {high}"
            self._numbers.addLayout(labelled(label, field), place // 2, place % 2)
        # what is around a layout does not notice what that is given while it is hidden
        self._around.invalidate()

    def _show_terms(self, terms: Mapping[str, Sequence[str]]) -> None:
        if self.categories and self._typed() == {name: tuple(each) for name, each in terms.items()}:
            return
        clear(self._lines)
        self.categories = []
        for name, each in terms.items():
            self._add_category(name, each)

    def _add_category(self, name: str, terms: Sequence[str]) -> None:
        row = self._lines.rowCount()
        category = line(name, "Category of terms", prompt="category")
        what = f"Terms of {name or 'the new category'}"
        field = line(", ".join(terms), what, prompt="term, another term")
        pair = (category, field)
        for each in pair:
            each.textEdited.connect(self._give_terms)
        what = f"Remove {name or 'this category'}"
        remove = push_button(
            "Remove", lambda: self._remove(pair, remove), tip=hints.plain(what), name=what
        )
        self.categories.append(pair)
        for place, widget in enumerate((category, field, remove)):
            self._lines.addWidget(widget, row, place)
        if not name:
            category.setFocus(Qt.FocusReason.OtherFocusReason)

    # -- answering ----------------------------------------------------------------------------

    def _choose(self) -> None:
        self._fit()
        self.changed.emit()

    def _give_edges(self, name: str, text: str) -> None:
        self._edges.pop(name, None)
        if text.strip() and text.strip() != self._filled[name]:
            self._edges[name] = _read(text)
        self._tell()

    def _give_terms(self) -> None:
        typed = self._typed()
        self._terms = {} if typed == TERMS else typed or {"(none)": ()}
        self._tell()

    def _typed(self) -> Terms:
        """Return the terms by category, as the fields say; what is wholly empty is left out."""
        found: Terms = {}
        for category, field in self.categories:
            name = " ".join(category.text().split())
            terms = tuple(term.strip() for term in field.text().split(",") if term.strip())
            if name or terms:
                found[name or "(no name)"] = (*found.get(name or "(no name)", ()), *terms)
        return found

    def _remove(self, pair: tuple[QLineEdit, QLineEdit], button: QPushButton) -> None:
        self.categories.remove(pair)
        for widget in (*pair, button):
            self._lines.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
        self._give_terms()

    def _back_to_paper(self) -> None:
        self._terms = {}
        self._show_terms(TERMS)
        self._tell()

    def _tell(self) -> None:
        self._fit()
        self.changed.emit()

    def _fit(self) -> None:
        """Show the fields of what is compared, and say what is wrong with the answers."""
        text = bool(self.answers.text)
        self._texts.setVisible(text)
        self._bins.setVisible(not text and bool(self.edges))
        self.wrong.say(self._problem())

    def _problem(self) -> str:
        if self._domain is None or self.isHidden():
            return ""
        try:
            check_rules(self.answers, self._domain)
        except SpecError as error:
            return str(error)
        return ""


def _usual_bins(method: str) -> int:
    """Return into how many bins a method divides numbers; 0 where it has a way of its own."""
    return int(getattr(method_named(method).options(), "bins", 0))


def _written(edges: Sequence[float]) -> str:
    return ", ".join(f"{edge:.15g}" for edge in edges)


def _read(text: str) -> tuple[float, ...]:
    """Read edges; none, which are refused, where they are no numbers."""
    try:
        return tuple(float(part) for part in text.split(",") if part.strip())
    except ValueError:
        return ()
