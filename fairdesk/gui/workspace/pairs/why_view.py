"""Why the two people of a pair are decided differently: what speaks for and against each."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton, QWidget

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.pair import Pair
from fairdesk.charts.kinds.weights import Weight, Weights
from fairdesk.gui.charts.picture import Picture
from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.workspace.common.short_table import short_table
from fairdesk.gui.workspace.session.session import Session
from fairdesk.individual.surrogates.explanation import Explanation
from fairdesk.models.decisions.rule import score_name
from fairdesk.wording import words

#: Attributes that are drawn: those that weigh most for either of the two.
STRONGEST = 8
#: From this R squared on a local explanation follows the model well; below the second, poorly.
_WELL, _POORLY = 0.7, 0.4


def strongest(spec: AuditSpec, pair: Pair, why: Explanation) -> Weights:
    """Draw the attributes that weigh most for either of the two, the heaviest first."""
    weights = []
    for p, attribute in enumerate(spec.domain.attributes):
        here, there = attribute.text(pair.row[p]), attribute.text(pair.partner[p])
        value = here if here == there else f"{here} / {there}"
        weights.append(
            Weight(f"{attribute.name}: {value}", (why.row.weights[p], why.partner.weights[p]))
        )
    weights.sort(key=lambda each: -max(map(abs, each.values)))
    return Weights(
        [each for each in weights[:STRONGEST] if any(each.values)],
        "Values that raise or lower the score of each instance",
        ("instance", "counterfactual"),
        digits=3,
        toned=True,
    )


def fit_words(why: Explanation) -> str:
    """Say how well the local explanations follow the model."""
    here, there = _fit(why.row.fit), _fit(why.partner.fit)
    numbers = f"R squared {_number(why.row.fit)}", _number(why.partner.fit)
    if here == there:
        said = f"The local explanation fits the model {here} ({' and '.join(numbers)})."
    else:
        said = (
            f"The local explanation fits the model {here} around the instance ({numbers[0]}) "
            f"and {there} around the counterfactual ({numbers[1]})."
        )
    poor = min(why.row.fit, why.partner.fit) < _POORLY
    return f"{said} Where it fits poorly, its bars explain little." if poor else said


def _fit(fit: float) -> str:
    return "well" if fit >= _WELL else "poorly" if fit < _POORLY else "partly"


def _number(fit: float) -> str:
    return words.plain(fit, 2)


class WhyView(QWidget):
    """The explanation of one pair: bars, or their table (key T), and every variant below."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._content = layouts.column(spacing=theme.NEAR)
        self._as_table = QToolButton()
        self._as_table.setText("Table")
        self._as_table.setCheckable(True)
        self._as_table.setToolTip("Show the bars as a table (T)")
        self._as_table.setAccessibleName("Show the bars as a table")
        self._as_table.toggled.connect(self._turn)
        self._bars: QWidget | None = None
        self._twin: QWidget | None = None
        self._fit = parts.Words()
        legend = parts.quiet(
            "Solid bars: the instance; hatched: the counterfactual. Bars to the right count "
            f"towards “{session.spec.favourable}”, bars to the left against it."
        )
        head = layouts.row(
            layouts.grow(legend),
            layouts.at(self._as_table, Qt.AlignmentFlag.AlignTop),
            spacing=theme.NEAR,
        )
        inside = layouts.panel(
            self._fit, head, self._content, layouts.stretch(), spacing=theme.NEAR
        )
        layouts.column(inside, on=self)

    def show_why(self, pair: Pair, why: Explanation) -> None:
        """Show another explanation."""
        spec = self._session.spec
        weights = strongest(spec, pair, why)
        self._fit.setText(fit_words(why))
        parts.clear(self._content)
        self._bars = Picture(weights)
        self._bars.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._twin = short_table(
            weights.title,
            ("Attribute", "Instance", "Counterfactual"),
            [(each.name, *map(weights.text, each.values)) for each in weights.weights],
            right=(1, 2),
            wide=0,
        )
        self._content.addWidget(self._bars)
        self._content.addWidget(self._twin)
        self._content.addWidget(parts.heading("With other protected values"))
        self._content.addWidget(self._make_variants(pair, why))
        self._turn()

    def toggle_table(self) -> None:
        """Turn from the bars to their table, or back."""
        self._as_table.toggle()

    def _turn(self) -> None:
        if self._bars is not None and self._twin is not None:
            self._bars.setVisible(not self._as_table.isChecked())
            self._twin.setVisible(self._as_table.isChecked())

    def _make_variants(self, pair: Pair, why: Explanation) -> QWidget:
        """Make the table of the same person under every combination of protected values."""
        spec, decisions = self._session.spec, self._session.decisions
        domain = spec.domain
        attributes = [domain.attributes[p] for p in domain.protected]
        own, other = (tuple(who[domain.protected].tolist()) for who in (pair.row, pair.partner))
        whose = {own: "the instance", other: "the counterfactual"}
        rows = [
            (
                *(each.text(code) for each, code in zip(attributes, variant.values, strict=True)),
                words.score(spec, variant.score),
                decisions[variant.decided],
                whose.get(tuple(variant.values), ""),
            )
            for variant in why.variants
        ]
        header = (*(each.name for each in attributes), score_name(spec.model), "Decision", "")
        return short_table(
            "The instance with every combination of protected values",
            header,
            rows,
            right=(len(attributes),),
            wide=len(header) - 1,
        )
