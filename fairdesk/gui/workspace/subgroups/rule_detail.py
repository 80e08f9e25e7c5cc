"""One finding, looked into: its rates, the rules around it, and the people inside."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from fairdesk.gui.charts.drawn import DrawnChart
from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.kit.keys import shortcut
from fairdesk.gui.workspace.common.people_inside import PeopleInside
from fairdesk.gui.workspace.common.report_link import report_link
from fairdesk.gui.workspace.common.statement import Statement
from fairdesk.gui.workspace.session.session import Session
from fairdesk.gui.workspace.subgroups.finding import Finding
from fairdesk.gui.workspace.subgroups.group_rates import Rates, rates_of
from fairdesk.gui.workspace.subgroups.lattice_view import LatticeView, carried, steps_of
from fairdesk.results.conditions import Conditions
from fairdesk.wording import words
from fairdesk.wording.groups import subgroups as subgroup_words

_KEY = (
    "Hollow: counted in the data rows, with a 95 % CI. Hatched: estimated from copies of them with "
    "one other value slightly changed, to see whether the gap holds for similar {many}."
)
#: The same of texts.
_KEY_TEXTS = "Hatched: the same texts with each term in its place."
#: And where enough texts have the term alone.
_KEY_ORIGINAL = f"{_KEY_TEXTS} Hollow: the original texts with the term alone, and with others."
_INTERVALS = (
    "The interval of an observed rate covers that rate alone; that of the gap is corrected for all "
    "subgroups and for the number of data rows."
)
_LATTICE = (
    "Rules that are one step broader (↑) or narrower (↓), with the largest estimated gaps. Click "
    "a rule to open it if it is also a finding."
)


class RuleDetail(QWidget):
    """What is known of a finding, as high as it has to be: the page scrolls.

    Signals
    -------
    wanted : tuple[Condition, ...]
        Another rule is to be looked at.
    left
        The keyboard is to go back to the findings.
    """

    wanted = Signal(object)
    left = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._shown: Finding | None = None
        self._statement = Statement()
        self.chart = DrawnChart(Rates())
        session.hear(self.chart)
        self._key = parts.quiet()
        self._carried = parts.Words()
        self._carried.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.lattice = LatticeView()
        self.lattice.chosen.connect(self.wanted)
        #: For experts: the rules around this one.
        self._around = (
            *(parts.heading("Contribution of each condition"), self.lattice, parts.quiet(_LATTICE)),
        )
        self.around = layouts.panel(parts.quiet(_INTERVALS), *self._around, spacing=theme.GAP)
        self.people = PeopleInside(session)
        # a table that scrolls both ways is out of the way until it is wanted
        self.individuals = parts.Fold("Individuals in the subgroup")
        self.individuals.body.addWidget(self.people)
        link = report_link(session, lambda: ("subtle",))
        layouts.column(
            self._statement,
            self.chart,
            self._key,
            layouts.at(link, Qt.AlignmentFlag.AlignLeft),
            self._carried,
            self.individuals,
            layouts.stretch(),
            on=self,
            spacing=theme.GAP,
        )
        shortcut(self, "Escape", self.left.emit, "Back to the subgroups")

    def show_people(self) -> bool:
        """Open the table of individuals and go there; return whether there is one."""
        if self.individuals.isHidden():
            return False
        self.individuals.set_open(opened=True)
        self.people.table.setFocus()
        return True

    @property
    def finding(self) -> Finding | None:
        """What is shown."""
        return self._shown

    def show_finding(self, finding: Finding, known: frozenset[Conditions]) -> None:
        """Show another finding; ``known`` are the rules that can be looked at."""
        self._shown = finding
        spec, rule_set = self._session.spec, finding.rule_set
        self._statement.say(
            "□ Observed" if subgroup_words.is_counted(rule_set) else "▨ Estimated",
            finding.sentence,
            words.capital(subgroup_words.evidence_sentence(spec, rule_set, finding.mined)),
        )
        key = _KEY.format(many=self._session.many)
        if finding.mined.texts:
            key = _KEY_TEXTS if rule_set.holds_on_data is None else _KEY_ORIGINAL
        self._key.setText(key)
        self.chart.draw(rates_of(rule_set, self._session.many))
        sentence = carried(spec, rule_set)
        self._carried.say(sentence)
        steps = steps_of(spec, rule_set)
        around = len(steps) > 1
        self.lattice.show_lattice(rule_set.outcome, steps, known)
        for widget in self._around:
            widget.setVisible(around)
        grouping = {each.name for each in spec.domain.grouping}
        of_people = all(
            each.attribute in grouping and not each.term for each in rule_set.conditions
        )
        self.individuals.setVisible(of_people)
        if of_people:
            self.people.show_people(rule_set.conditions)
