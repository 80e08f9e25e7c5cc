"""A PMML file as an opened model."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fairdesk.errors import ModelError
from fairdesk.file_types import DECISIONS
from fairdesk.files import sha256
from fairdesk.models.decisions.outputs import from_classes, from_values, of_two
from fairdesk.models.model import Capability, Hints, Inputs, ModelCard, Takes, width_text
from fairdesk.models.pmml.document import Answer, Element, NotReadError, given, read_document
from fairdesk.models.pmml.parts import Dictionary, ForestPart, Model, around, model_of
from fairdesk.results.events import Scores

_KINDS = {
    "TreeModel": "decision tree",
    "RegressionModel": "regression",
    "GeneralRegressionModel": "general regression",
    "Scorecard": "scorecard",
    "MiningModel": "several models together",
}


class PmmlModel:
    """A model of a PMML document.

    Attributes
    ----------
    steady : bool
        True: where a row stands in a batch changes no bit of its answer.
    """

    steady = True

    def __init__(self, path: Path, root: Element, dictionary: Dictionary, model: Model) -> None:
        self.model = model
        self._dictionary = dictionary
        self._fields = [
            dictionary.fields[each.name]
            for each in model.treatments
            if each.active and each.name in dictionary.fields
        ]
        self.card = self._made_card(path, root)

    def _made_card(self, path: Path, root: Element) -> ModelCard:
        model = self.model
        inputs = tuple(field.name for field in self._fields)
        shares = getattr(model.part, "shares", True)
        kind = next(_KINDS[each.tag] for each in root.children if each.tag in _KINDS)
        if isinstance(model.part, ForestPart):
            kind = f"{len(model.part.trees.trees):,} decision trees"
        header = root.one("Header")
        application = None if header is None else header.one("Application")
        producer = [application.get(name) for name in ("name", "version")] if application else []
        can = [Capability.DECIDES]
        can += [Capability.SCORES] if shares or not model.classes else []
        return ModelCard(
            path=str(path),
            sha256=sha256(path),
            format=f"PMML {root.get('version')} model".replace("  ", " "),
            summary=f"{kind.capitalize()}, {width_text(len(inputs), len(model.classes))}.",
            takes=Takes.COLUMNS,
            inputs=inputs,
            named=True,
            classes=model.classes,
            scores="values" if not model.classes else "probabilities" if shares else "labels",
            read_as_data=True,
            saved_with=" ".join(part for part in producer if part),
            can=tuple(can),
            accepts=tuple(field.accepts() for field in self._fields),
            categories={
                field.name: tuple(map(str, field.valid))
                for field in self._fields
                if field.kind == "text" and field.valid
            },
            hints=Hints(target=model.target),
        )

    def scores(self, inputs: Inputs) -> Scores:
        """Answer for one array per input; as `OpenedModel.scores`."""
        rows = len(inputs[0]) if inputs else 0
        try:
            columns = {
                field.name: given(field, values)
                for field, values in zip(self._fields, inputs, strict=True)
            }
            scope = around(self._dictionary, self.model, columns, rows)
            answer = self.model.answer(self.model.scope(scope))
        except NotReadError as error:
            raise _not_read(Path(self.card.path), error) from error
        return self._scores(answer)

    def _scores(self, answer: Answer) -> Scores:
        classes = self.model.classes
        if not classes:
            return from_values(answer.scores[:, 0])
        chosen = answer.chosen
        none = chosen < 0
        if self.card.scores == "labels":
            scores = from_classes(np.where(none, 0, chosen), len(classes))
        elif len(classes) == 2:
            scores = of_two(answer.scores[:, 1:], (chosen == 1)[:, None])
        else:
            scores = answer.scores.astype(np.float32)
            # the decision is what the document says, also where shares are equal
            most = np.nextafter(scores.max(axis=1), np.float32(np.inf))
            rows = np.flatnonzero(~none & (scores.argmax(axis=1) != chosen))
            scores[rows, chosen[rows]] = most[rows]
        scores[none] = np.nan
        return scores


def open_pmml(path: Path) -> PmmlModel:
    """Open a PMML file; it is read as data.

    Raises
    ------
    ModelError
        When it is damaged, or uses what FairDesk does not read.
    """
    root = read_document(path)
    try:
        dictionary = Dictionary(root)
        model = model_of(root, dictionary)
        opened = PmmlModel(path, root, dictionary, model)
        _check_names(opened)
    except NotReadError as error:
        raise _not_read(path, error) from error
    except RecursionError as error:
        raise _not_read(path, NotReadError("expressions within expressions")) from error
    return opened


def _check_names(opened: PmmlModel) -> None:
    """Ask about a row in which everything is missing: names that are not defined are found so.

    What such a row is answered, or that it is refused, does not matter.
    """
    row: Inputs = [np.full(1, np.nan) for _ in opened.card.inputs]
    fields = zip(opened._fields, row, strict=True)
    columns = {field.name: given(field, values) for field, values in fields}
    try:
        scope = around(opened._dictionary, opened.model, columns, 1)  # noqa: SLF001 - as above
        opened.model.answer(opened.model.scope(scope))
    except ModelError:
        return


def _not_read(path: Path, error: NotReadError) -> ModelError:
    return ModelError(
        f"“{path.name}” cannot be read: it has {error}.",
        why="FairDesk reads trees, regressions, scorecards and several of these together.",
        remedy=f"Ask its author for the model as ONNX. {DECISIONS}",
    )
