"""What to repair, how to label what is added, and how much: a run of a repair, asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import msgspec
from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QCheckBox,
    QDoubleSpinBox,
    QRadioButton,
    QSpinBox,
    QWidget,
)

from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.audit.catalogue.methods import METHODS, Option, options_of
from fairdesk.audit.plan.spec import AuditSpec, OptionValue, RunSpec
from fairdesk.audit.runs.mitigation import check_repair
from fairdesk.audit.store.records import PairQuery, RunRecord
from fairdesk.audit.store.store import Store
from fairdesk.errors import SpecError
from fairdesk.gui.forms.method_picker import OptionsForm, hint, number_field
from fairdesk.gui.kit import fields, hints, layouts, parts, theme
from fairdesk.gui.kit.hints import HelpButton, set_topic
from fairdesk.manual.places import option_place
from fairdesk.models.model import Capability
from fairdesk.results.subgroups import RuleSet
from fairdesk.wording import mitigation as mitigation_words
from fairdesk.wording import words
from fairdesk.wording.decisions import outcome_text
from fairdesk.wording.groups import findings as finding_words
from fairdesk.wording.groups.findings import gap_text, quoted_gap
from fairdesk.wording.rules import rule_phrase

#: The mitigations: by pairs, and by a subgroup.
PAIRS, RULES = "repair-aequitas", "repair-testsgd"
#: Rule sets that are offered at most: those with the highest scores.
_MOST_RULES = 100


@dataclass(frozen=True)
class Rule:
    """A rule set that was found."""

    run: RunRecord
    found: RuleSet
    text: str


@dataclass(frozen=True)
class Offer:
    """What there is to repair.

    Attributes
    ----------
    pairs : dict[int, int]
        Per run that found any: how many pairs, dismissed ones left out.
    titles : dict[int, str]
        Of these runs.
    flagged : int
        How many of all pairs are flagged.
    wrong : str
        Why nothing can be repaired here at all; empty where something can.
    """

    pairs: dict[int, int] = field(default_factory=dict)
    titles: dict[int, str] = field(default_factory=dict)
    flagged: int = 0
    wrong: str = ""


def wrong_with(store: Store) -> str:
    """Say why nothing can be repaired in an audit at all; empty where something can."""
    try:
        # nothing is counted for a rule set that is told: what it refuses is the data and labels
        check_repair(RunSpec(RULES), store)
    except SpecError as error:
        return str(error)
    return ""


def offer_of(store: Store, wrong: str) -> Offer:
    """Look into the audit file for what there is to repair; ``wrong`` is why nothing can be."""
    runs = {run.id: METHODS[run.spec.method].title for run in store.runs()}
    counts = {
        run: sum(store.count(PairQuery(run=run, mark=mark)) for mark in ("", "flagged"))
        for run in runs
    }
    return Offer(
        {run: count for run, count in counts.items() if count},
        runs,
        store.count(PairQuery(mark="flagged")),
        wrong,
    )


def rules_of(spec: AuditSpec, runs: Iterable[RunRecord]) -> tuple[Rule, ...]:
    """List the rule sets that stand for themselves, of each question the newest run's."""
    newest: dict[tuple[str, str], tuple[RunRecord, list[RuleSet]]] = {}
    for run in runs:
        for _mined, sets in finding_words.mined_with(run.figures):
            for each in finding_words.leaders(sets):
                key = run.spec.text, each.outcome
                if key not in newest or newest[key][0] is not run:
                    newest[key] = (run, [])
                newest[key][1].append(each)
    found = [(run, each) for run, sets in newest.values() for each in sets]
    found.sort(key=lambda pair: -pair[1].score)
    return tuple(
        Rule(
            run,
            each,
            # the number first: a long rule is cut at its end
            f"{gap_text(each.outcome, quoted_gap(each))}: "
            f"{rule_phrase(spec, each.conditions)}"
            + (f", “{outcome_text(spec, each.outcome)}”" if each.outcome else ""),
        )
        for run, each in found[:_MOST_RULES]
    )


#: In less width one question stands below the other.
_BESIDE = 780
#: Options with a place of their own in the form: numbers, each with its key, and what labels.
_MUCH = {"most": "o", "accuracy_loss": "m"}
_LABELS = "labels"

#: Where labels can come from, shortly.
LABELS: Final = {
    "majority": "Majority of f&ive other models",
    "similar": "The model’s most frequent decision in the counterfactual set",
    "model": "The model’s own decision",
    "neighbours": "Majority of the nearest training rows",
}
_OPPOSITE = (
    "By the method’s rule, not by merit: members of the subgroup with the decision that is "
    "too frequent there are added with the opposite label."
)
_FIRST = (
    "Mitigation adds rows made from discriminatory pairs or from members of a subgroup. Search "
    "for these first."
)
#: What it starts from where nothing is found yet.
_FOUND_THEN: Final = {
    PAIRS: "It starts from the pairs that the runs before it in the queue will have found.",
    RULES: "It starts from the subgroup that differs most when the runs before it have ended.",
}
_ROWS_ONLY = (
    "This model cannot be retrained here. The result is a set of labelled augmentation rows "
    "for training it elsewhere; there is no chart and no model."
)


class RepairForm(QWidget):
    """Asks for a repair.

    Signals
    -------
    start
        The repair is to begin; `run` tells it.
    show_examples, search_wanted
        Pairs are to be found, or to be flagged, on the Examples page; or a search is to begin.
    """

    start = Signal()
    show_examples = Signal()
    search_wanted = Signal()

    def __init__(self, spec: AuditSpec) -> None:
        super().__init__()
        self._spec = spec
        self._offer = Offer()
        self._rules: tuple[Rule, ...] = ()
        #: What the runs answer that are under way or wait: they may still find something.
        self._coming: frozenset[QuestionKind] = frozenset()
        self._values: dict[str, dict[str, OptionValue]] = {PAIRS: {}, RULES: {}}
        self._lacks = ""
        self.form: OptionsForm | None = None
        self._shown = ""
        self.all = QRadioButton("A&ll pairs found")
        self.flagged = QRadioButton("Flagged pairs only")
        self.group = QRadioButton("A subgroup found to differ from all others:")
        self.rule = fields.choice((), "Subgroup to mitigate", letters=24)
        self.boxes: dict[int, QCheckBox] = {}
        self.much: dict[str, QSpinBox | QDoubleSpinBox] = {}
        self.seed = fields.seed()
        self.button = parts.push_button("S&tart mitigation", self.start, filled=True)
        self.lacking = parts.Banner()
        self._lay_out()
        self._listen()
        self._fit()

    # What is asked

    @property
    def method(self) -> str:
        """Which method repairs what is chosen."""
        return RULES if self.group.isChecked() else PAIRS

    def run(self, seed: int | None = None) -> RunSpec:
        """Return what is asked for; with another seed, where it is told."""
        options = dict(self._values[self.method])
        if self.method == PAIRS:
            options[_LABELS] = self._source
        usual = self._usual
        changed = {name: value for name, value in options.items() if value != usual[name].default}
        made = RunSpec(self.method, changed, seed=self.seed.value() if seed is None else seed)
        return msgspec.structs.replace(made, **self._what())

    def show_offer(self, offer: Offer, rules: Sequence[Rule]) -> None:
        """Show what there is to repair now."""
        self._offer, self._rules = offer, tuple(rules)
        total = sum(offer.pairs.values())
        found = "Pairs found by a&ll ticked runs" if len(offer.pairs) > 1 else "A&ll pairs found"
        self.all.setText(f"{found}: {words.number(total)}")
        self.flagged.setText(f"Flagged pairs only: {words.number(offer.flagged)}")
        self._list_runs()
        fields.offer(self.rule, [(each.text, each.text, each.text) for each in self._rules])
        self._tell_rule()
        if not total and self._rules and self.all.isChecked():
            self.group.setChecked(True)
        self._fit()

    def show_busy(self, *, busy: bool) -> None:
        """Say whether it waits in the queue until another run has ended."""
        self.button.setText("Add &to queue" if busy else "S&tart mitigation")

    def expect(self, kinds: Iterable[QuestionKind]) -> None:
        """Take note of what the runs answer that are under way or wait."""
        coming = frozenset(kinds)
        if coming != self._coming:
            self._coming = coming
            self._fit()

    def choose_seed(self, seed: int) -> None:
        """Offer a seed."""
        self.seed.setValue(min(seed, fields.MOST_SEED))

    @property
    def _source(self) -> str:
        """Where the labels of what is added come from."""
        return next(key for key, button in self.labels.items() if button.isChecked())

    @property
    def _usual(self) -> dict[str, Option]:
        return {each.name: each for each in options_of(METHODS[self.method].options)}

    def _what(self) -> dict[str, object]:
        """Return what is repaired, as fields of a `RunSpec`."""
        if self.method == RULES:
            place = self.rule.currentIndex()
            if place < 0:
                return {}
            rule, asked = self._rules[place].found, self._rules[place].run.spec
            return {
                "rule": rule.conditions,
                "outcome": rule.outcome,
                "text": asked.text,
                "terms": asked.terms,
                "edges": asked.edges,
            }
        if self.flagged.isChecked():
            return {"flagged": True}
        ticked = tuple(run for run, box in self.boxes.items() if box.isChecked())
        return {} if len(ticked) == len(self.boxes) else {"pairs_of": ticked}

    def _reason(self) -> str:
        """Say why it cannot begin; empty when it can."""
        offer = self._offer
        if offer.wrong or self._waits:
            return offer.wrong
        if self.method == RULES:
            return "" if self._rules else "No subgroup discovery has found a subgroup yet."
        if not offer.pairs:
            return "There are no discriminatory pairs yet: no search has found any."
        if self.flagged.isChecked() and not offer.flagged:
            return (
                "No pair is flagged: flag those that matter on the Discriminatory pairs page (F)."
            )
        if self.all.isChecked() and not any(box.isChecked() for box in self.boxes.values()):
            return "No run is chosen."
        return ""

    @property
    def _waits(self) -> bool:
        """Whether it starts from what runs before it may still find."""
        if self.method == RULES:
            return not self._rules and QuestionKind.GROUPS in self._coming
        return not self._offer.pairs and QuestionKind.EXAMPLES in self._coming

    # Parts

    def _lay_out(self) -> None:
        self._both = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._both.setSpacing(theme.GAP)
        for card, stretch in ((self._make_what(), 5), (self._make_labels(), 6)):
            self._both.addWidget(card, stretch)
        self.rows_only = parts.Words(_ROWS_ONLY, strong=True)
        self.rows_only.setVisible(Capability.RETRAINS not in self._spec.model.can)
        layouts.column(
            *(self.lacking, self._both, self._make_much(), self.rows_only),
            layouts.row(self.button, layouts.stretch()),
            on=self,
            spacing=theme.GAP,
        )

    def _make_what(self) -> parts.Card:
        inset = (theme.PAGE, 0, 0, 0)
        self._run_boxes = layouts.column(spacing=theme.TIGHT)
        self._runs = layouts.panel(self._run_boxes, margin=inset)
        fields.together(self, (self.all, self.flagged, self.group))
        self.all.setChecked(True)
        self._about = parts.quiet()
        return parts.Card(
            parts.heading("What to mitigate"),
            *(self.all, self._runs, self.flagged, self.group),
            layouts.row(self.rule, margin=inset),
            self._about,
            layouts.stretch(),
        )

    def _make_labels(self) -> parts.Card:
        heading, source = parts.heading("Labels of the augmentation rows"), self._usual[_LABELS]
        topic = option_place(PAIRS, _LABELS)
        offered = {
            key: (LABELS[key], mitigation_words.labels_sentence(key)) for key in source.choices
        }
        self.labels, column = fields.radios(self, offered, str(source.default))
        self._sources = layouts.panel(column)
        set_topic(self._sources, topic)
        self._opposite = parts.Words(_OPPOSITE)
        return parts.Card(
            layouts.row(layouts.grow(heading), HelpButton(heading.text(), topic)),
            self._sources,
            self._opposite,
            layouts.stretch(),
        )

    def _make_much(self) -> parts.Card:
        self._much = layouts.row(spacing=theme.PAGE)
        self.fold = parts.Fold(
            "Advan&ced: instances tested, training, comparison methods, certification"
        )
        self._options = layouts.column()
        self.fold.body.addLayout(self._options)
        self.fold.body.addLayout(
            fields.labelled(
                "Ra&ndom seed",
                self.seed,
                "The same seed gives the same augmentation rows and the same training.",
            )
        )
        return parts.Card(parts.heading("Limits"), self._much, self.fold, spacing=theme.GAP)

    def _listen(self) -> None:
        for button in (self.all, self.flagged, self.group):
            button.toggled.connect(lambda on: self._fit() if on else None)
        self.rule.activated.connect(lambda _place: self.group.setChecked(True))
        self.rule.currentIndexChanged.connect(lambda _place: self._tell_rule())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Put one question below the other where both do not fit beside each other."""
        super().resizeEvent(event)
        beside = event.size().width() >= _BESIDE
        layouts.turn(self._both, beside=beside)

    # What happens

    def _list_runs(self) -> None:
        offer = self._offer
        if list(self.boxes) != list(offer.pairs):
            ticked = {run for run, box in self.boxes.items() if box.isChecked()}
            everything = len(ticked) == len(self.boxes)
            parts.clear(self._run_boxes)
            self.boxes = {}
            for run in offer.pairs:
                box = QCheckBox()
                # a run that is new belongs to all, unless the auditor has left some out
                box.setChecked(run in ticked or everything)
                box.toggled.connect(self._tick)
                self._run_boxes.addWidget(box)
                self.boxes[run] = box
            self._order()
        for run, box in self.boxes.items():
            box.setText(f"Run {run}: {offer.titles[run]}, {words.number(offer.pairs[run])}")

    def _tell_rule(self) -> None:
        """Tell the whole of a rule that the field is too narrow for."""
        self.rule.setToolTip(hints.plain(self.rule.currentText()))

    def _tick(self) -> None:
        self.all.setChecked(True)
        self._allow()

    def _fit(self) -> None:
        """Show what belongs to the chosen method."""
        groups = self.method == RULES
        self._runs.setVisible(len(self._offer.pairs) > 1)
        self.rule.setVisible(bool(self._rules))
        self.group.setEnabled(bool(self._rules) or QuestionKind.GROUPS in self._coming)
        self._sources.setVisible(not groups)
        self._opposite.setVisible(groups)
        about = METHODS[self.method].sentence
        self._about.setText(f"{about} {_FOUND_THEN[self.method]}" if self._waits else about)
        if self._shown != self.method:
            self._shown = self.method
            self._show_options()
        self._allow()

    def _show_options(self) -> None:
        """Make the fields of the chosen method's options."""
        network, usual = "Keras" in self._spec.model.format, self._usual
        parts.clear(self._much)
        for name, key in _MUCH.items():
            option = usual[name]
            value = self._values[self.method].get(name, option.default)
            number = self.much[name] = number_field(option, value)
            number.valueChanged.connect(partial(self._set_option, name))
            title = option.title.replace(key, f"&{key}", 1)
            place = fields.labelled(
                title, number, hint(option), topic=option_place(self.method, name)
            )
            place.addStretch(1)
            self._much.addLayout(place, 1)
        self.much["most"].setSuffix(f"{words.NBSP}%")
        options = tuple(
            each
            for each in usual.values()
            if each.name not in (*_MUCH, _LABELS) and (network or not each.networks)
        )
        parts.clear(self._options)
        self.form = OptionsForm(self.method, options, self._values[self.method])
        self.form.set_to.connect(self._set_option)
        self._options.addWidget(self.form)
        self._order()

    def _order(self) -> None:
        """Let Tab go through the form as it is read."""
        fields = () if self.form is None else (*self.form.fields.values(), self.form.reset)
        parts.in_order(
            *(self.all, *self.boxes.values(), self.flagged, self.group, self.rule),
            *(*self.labels.values(), *self.much.values(), self.fold.button),
            *(*fields, self.seed, self.button),
        )

    def _set_option(self, name: str, value: OptionValue) -> None:
        self._values[self.method][name] = value

    def _allow(self) -> None:
        """Let it start, or say why it cannot, and offer the way on."""
        reason = self._reason()
        self.button.setEnabled(not reason)
        self.button.setAccessibleDescription(reason)
        if reason == self._lacks:
            return
        self._lacks = reason
        if not reason or self._offer.wrong:
            self.lacking.say("Mitigation is not available here." if reason else "", reason)
        elif self._offer.pairs:
            self.lacking.say(reason, "", (("Show the pairs", self.show_examples.emit),))
        else:
            self.lacking.say(reason, _FIRST, (("R&un a search…", self.search_wanted.emit),))
