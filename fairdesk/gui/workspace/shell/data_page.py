"""The facts of the data and the model: what was audited, exactly."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFormLayout, QHeaderView, QTableWidget, QTableWidgetItem, QWidget

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.table import Kind
from fairdesk.gui.kit import hints, layouts, parts, theme
from fairdesk.gui.kit.pages import for_experts, page_head
from fairdesk.gui.kit.tables import RIGHT, head_columns, height_around, read_only
from fairdesk.models.decisions.rule import VALUES
from fairdesk.wording import figures, words
from fairdesk.wording.attributes import compared_values, role_text, texts_summary


def short_table(
    name: str,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    right: Collection[int] = (),
    wide: int = 3,
) -> QTableWidget:
    """Make a short table.

    The columns at ``right`` hold numbers and are set flush right; the one at ``wide`` takes the
    room that is left.
    """
    table = QTableWidget(len(rows), len(header))
    read_only(table, name, line=9, whole=True)
    head_columns(table, header, right)
    for row, texts in enumerate(rows):
        for place, text in enumerate(texts):
            item = QTableWidgetItem(text)
            item.setToolTip(hints.plain(text))
            if place in right:
                item.setTextAlignment(RIGHT)
            table.setItem(row, place, item)
    line = table.verticalHeader().defaultSectionSize()
    head = table.horizontalHeader()
    head.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    head.setSectionResizeMode(min(wide, len(header) - 1), QHeaderView.ResizeMode.Stretch)
    if rows:
        table.setCurrentCell(0, 0)
        table.clearSelection()
    table.setFixedHeight(line * len(rows) + height_around(table))
    return table


#: Names with what is said of them.
Facts = tuple[tuple[str, str], ...]

#: Values of a column that are listed before “and n more”.
_LISTED = 4


#: Facts with which an expert tells whether a file is the same, and how it was opened.
_FOR_EXPERTS = ("SHA-256", "Read with", "Format", "Saved with", "Structure", "Columns matched")


def data_facts(spec: AuditSpec) -> Facts:
    """Say what the data are."""
    data, dialect = spec.data, spec.data.dialect
    between = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar", " ": "space"}
    return (
        ("File", data.path),
        ("SHA-256", data.sha256),
        ("Rows", f"{words.number(data.rows)}, each {_a(spec.person)}"),
        *([("Sample", words.sampled(data))] if data.sample else []),
        (
            "Read with",
            (
                f"{between.get(dialect.delimiter, dialect.delimiter)} between cells, encoding "
                f"{dialect.encoding}, {'a' if dialect.header else 'no'} header row, decimal mark "
                f"“{dialect.decimal}”"
            ),
        ),
        ("Recorded outcome", f"{spec.label}; “{spec.favourable}” is favourable"),
    )


def decision_facts(spec: AuditSpec) -> Facts:
    """Say what stands for a model that is not at hand."""
    return (
        ("Column", spec.predictions),
        ("Favourable", spec.decisions[spec.mapping.favourable_class]),
        ("Values", words.some(spec.model.classes)),
        ("Model", "Not available: no other instances can be tested, and all searches are disabled"),
    )


def model_facts(spec: AuditSpec) -> Facts:
    """Say what the model is."""
    model, mapping = spec.model, spec.mapping
    classes = ", ".join(
        _favourable(name, spec.favourable) if i == mapping.favourable_class else name
        for i, name in enumerate(spec.decisions)
    )
    if model.read_as_data:
        run = "Read as plain numbers; no code of the file was run"
    elif spec.trusted:
        run = "The file can run code; you agreed to run it"
    elif model.environment:
        run = f"In a separate environment and process: {model.environment}"
    else:
        run = "Opened by its library in a separate process"
    if spec.trusted and model.environment:
        run += f", in a separate environment: {model.environment}"
    limit = mapping.threshold if model.scores != VALUES else None
    beside = [
        (
            f"Companion file{' (can run code; you agreed)' if each.trusted else ''}",
            f"{each.path}\nSHA-256 {each.sha256}",
        )
        for each in model.companions
    ]
    facts = (
        ("File", model.path),
        ("SHA-256", model.sha256),
        ("Format", model.format),
        ("Saved with", model.saved_with),
        ("Structure", model.summary),
        ("Output used for decisions", model.output if model.outputs else ""),
        ("Outputs", f"{model.scores}; decisions: {classes}"),
        ("Decision threshold", "" if limit is None else f"a score of {limit:g}, not 0.5"),
        ("Opened", run),
        *beside,
        ("Columns matched", mapping.matched),
    )
    return tuple((name, text) for name, text in facts if text)


def _favourable(name: str, recorded: str) -> str:
    """Name the favourable decision, beside the recorded outcome where that is called otherwise."""
    return f"{name} (favourable: {recorded})" if name != recorded else f"{name} (favourable)"


def _a(person: str) -> str:
    return f"an {person}" if person[:1].lower() in "aeiou" else f"a {person}"


def values_text(attribute: Attribute) -> str:
    """Say which values of an attribute are tested; of one that is not protected, which it has."""
    if attribute.kind is Kind.TEXT:
        return texts_summary(attribute.values)
    if attribute.compared:
        return compared_values(attribute)
    if attribute.values:
        return words.some(attribute.values, _LISTED)
    return f"{attribute.text(attribute.low)} to {attribute.text(attribute.high)}"


class DataPage(QWidget):
    """Data and model."""

    def __init__(self, spec: AuditSpec) -> None:
        super().__init__()
        attributes = (*spec.domain.attributes, *spec.domain.unseen)
        self.attributes = short_table(
            "Attributes",
            ("Attribute", "Type", "Role", "Values"),
            [
                (
                    each.name,
                    words.KINDS[each.kind],
                    _role(spec, each),
                    values_text(each),
                )
                for each in attributes
            ],
            wide=3,
        )
        for row, each in enumerate(attributes):
            if each.kind is not Kind.TEXT and (cell := self.attributes.item(row, 3)) is not None:
                cell.setToolTip(hints.plain(", ".join(each.values) or values_text(each)))
        inside, data = QWidget(), data_facts(spec)
        column = layouts.column(
            page_head("Data and model"),
            parts.quiet(
                "The exact data of this audit. They are fixed; to audit others, create a new audit."
                if spec.predictions
                else "The exact data and model of this audit. They are fixed; to audit other data "
                "or another model, create a new audit."
            ),
            _facts(f"Data: {Path(spec.data.path).name}", _open(data)),
            parts.heading("Attributes"),
            self.attributes,
            on=inside,
            margin=theme.AROUND,
            spacing=theme.GAP,
        )
        known = {each.name for each in attributes}
        left = [
            each.name
            for each in spec.columns
            if each.name not in (*known, spec.label, spec.predictions)
        ]
        if left:
            column.addWidget(parts.quiet(f"Excluded from the audit: {words.listed(left)}."))
        column.addSpacing(theme.NEAR)
        model = () if spec.predictions else model_facts(spec)
        if spec.predictions:
            column.addWidget(_facts("Decisions", decision_facts(spec)))
        else:
            column.addWidget(_facts(f"Model: {Path(spec.model.path).name}", _open(model)))
        found = spec.model.repeatability
        wavers = "" if found is None else figures.repeatability_sentence(found)
        for warning in (*spec.model.warnings, *filter(None, (wavers,))):
            banner = parts.Banner()
            banner.say(warning)
            column.addWidget(banner)
        below: list[QWidget] = [_facts("Data file", _folded(data))]
        if not spec.predictions:
            mapping = short_table(
                "Input mapping",
                ("Model input", "Source column", "Conversion"),
                [
                    (each.name, each.attribute or "–", words.how_made(each, _LISTED))
                    for each in spec.mapping.inputs
                ],
            )
            below += [_facts("Model file", _folded(model)), parts.heading("Input mapping"), mapping]
        self.experts = for_experts(*below)
        column.addWidget(self.experts)
        column.addStretch(1)
        self._inside, self._area = inside, parts.scrolled(inside)
        layouts.column(self._area, on=self)

    def show_attribute(self, name: str) -> None:
        """Choose an attribute in its table, and put the keyboard there."""
        for item in self.attributes.findItems(name, Qt.MatchFlag.MatchExactly):
            if item.column() == 0:
                self.attributes.selectRow(item.row())
                self.attributes.setFocus(Qt.FocusReason.OtherFocusReason)
                place = self.attributes.visualItemRect(item).center()
                at = self.attributes.viewport().mapTo(self._inside, place)
                self._area.ensureVisible(at.x(), at.y(), 0, self._area.height() // 3)


def _role(spec: AuditSpec, attribute: Attribute) -> str:
    if attribute in spec.domain.unseen:
        return "◆ protected, not a model input"
    if spec.predictions and attribute.role is not Role.PROTECTED:
        return "not compared"  # without a model no attribute is varied
    mark = "◆ " if attribute.role is Role.PROTECTED else ""
    return f"{mark}{role_text(spec.domain, attribute)}"


def _open(facts: Facts) -> Facts:
    """Return the facts that are on the page."""
    return tuple(each for each in facts if each[0] not in _FOR_EXPERTS)


def _folded(facts: Facts) -> Facts:
    """Return the facts that are for experts."""
    return tuple(each for each in facts if each[0] in _FOR_EXPERTS)


def _facts(name: str, facts: Facts) -> parts.Card:
    card = parts.Card()
    card.body.addWidget(parts.heading(name))
    form = QFormLayout()
    form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
    form.setHorizontalSpacing(theme.WIDE)
    form.setVerticalSpacing(theme.TIGHT)
    form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
    for label, text in facts:
        said = parts.Words(text)
        said.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        said.setAccessibleName(f"{label}: {text}")
        form.addRow(parts.Words(label, tone="quiet", wrap=False), said)
    card.body.addLayout(form)
    return card
