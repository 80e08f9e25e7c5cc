"""scikit-learn models in pickle, joblib and skops files, and what lies in them beside the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.errors import ModelError
from fairdesk.files import sha256
from fairdesk.models.decisions.outputs import (
    first_line,
    from_classes,
    from_margins,
    from_probabilities,
)
from fairdesk.models.model import Capability, Hints, Inputs, ModelCard, OpenedModel, width_text
from fairdesk.models.pickles.contents import Contents, spoken, wanted_environment
from fairdesk.models.pickles.loading import Loaded, load
from fairdesk.models.preparation.arranging import is_part, names_of, words_of
from fairdesk.models.preparation.companions import PreparedModel
from fairdesk.models.preparation.estimators import (
    GROUP,
    Asked,
    RandomisedClassifier,
    adapted,
    alone,
    asked_of,
    categories_of_inputs,
    has_categories,
    innermost,
    is_estimator,
    kinds_of_inputs,
    missing_of_inputs,
    prose_in,
    rows_for,
    sample_row,
    takes_categories,
    trains,
    trees_in,
    unprepared,
)
from fairdesk.models.preparation.steps import Preparation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairdesk.models.structure import ModelStructure
    from fairdesk.results.events import Scores

#: What lists of a model's inputs are called.
_LIST_WORDS = frozenset({"feature", "features", "columns", "inputs", "cols"})
#: What the score is called from which on a decision is favourable.
_THRESHOLD_WORDS = frozenset({"threshold", "cutoff"})
#: What models are called where several lie in one file.
_MODEL_WORDS = ("model", "classifier", "clf", "estimator", "pipeline", "regressor", "best")


class ScikitModel:
    """A model with scikit-learn's interface."""

    def __init__(self, card: ModelCard, estimator: Any, asked: Asked) -> None:  # noqa: ANN401 - any class that the file names
        self.card = card
        self.estimator = estimator
        self.asked = asked
        self._places = {value: i for i, value in enumerate(asked.classes)}

    def matrix_scores(self, matrix: NDArray[np.float64]) -> Scores:
        """Answer for ``(n, inputs)`` numbers; as `OpenedModel.scores`."""
        return self.answer(matrix)

    def scores(self, inputs: Inputs) -> Scores:
        """Answer for one array per input; as `OpenedModel.scores`."""
        return self.answer(rows_for(self.card, inputs))

    def answer(self, rows: Any) -> Scores:  # noqa: ANN401 - a matrix, a pandas frame or texts
        """Answer for rows in the form that the estimator takes.

        Raises
        ------
        ModelError
            When it refuses them.
        """
        count = rows.shape[0] if hasattr(rows, "shape") else len(rows)
        try:
            with alone():
                return self._answer(rows)
        except Exception as error:
            # any kind: the model's own code runs
            if takes_categories(self.estimator):
                raise _of_categories(count, error) from error
            raise ModelError(
                f"The model rejected {count:,} rows.",
                why=f"It reported: {first_line(error)}",
                remedy="Check that each input is made from the right column; missing cells and "
                "values that the model has never seen are other causes."
                + other_versions(self.card),
            ) from error

    def of(self, estimator: Any) -> ScikitModel:  # noqa: ANN401 - as above
        """Return another estimator, asked in the same way."""
        return ScikitModel(self.card, estimator, replace(self.asked, estimator=estimator))

    def structure(self) -> ModelStructure:
        """Return what is inside; see `fairdesk.models.sklearn.structure.structure_of_estimator`."""
        return self.structure_behind((), self.card)

    def structure_behind(
        self, before: Sequence[tuple[str, Any]], card: ModelCard
    ) -> ModelStructure:
        """Return what is inside this model and fitted transformers that come before it."""
        # not known to older Pythons, which open models too
        from fairdesk.models.sklearn.structure import structure_of_estimator  # noqa: PLC0415

        return structure_of_estimator(self, before, card)

    def _answer(self, rows: Any) -> Scores:  # noqa: ANN401 - as above
        which = self.asked.column
        if self.asked.scores == "probabilities":
            answers = self.estimator.predict_proba(rows)
            if which is None:
                return from_probabilities(np.asarray(answers))
            one = answers[which] if isinstance(answers, list) else answers[:, which]
            return from_probabilities(np.asarray(one))
        if self.asked.scores == "scores":
            return from_margins(np.asarray(self.estimator.decision_function(rows)))
        if self.asked.scores == "values":
            values = np.asarray(self.estimator.predict(rows), dtype=np.float64)
            values = values.reshape(len(values), -1)
            return values[:, [which or 0]].astype(np.float32)
        predicted_class = np.asarray(self.estimator.predict(rows))
        predicted_class = predicted_class.reshape(len(predicted_class), -1)[:, which or 0]
        places = np.array([self._places[value] for value in predicted_class.tolist()], np.intp)
        return from_classes(places, len(self._places))


def _of_categories(count: int, error: Exception) -> ModelError:
    return ModelError(
        f"The model rejected {count:,} rows: it was trained on categories of pandas.",
        why=f"Its codes for them are kept in its trees only. It reported: {first_line(error)}",
        remedy="Ask its author for the model’s decisions as a column of the table; or, if the "
        "trees alone decide, for these (LightGBM: model.booster_.save_model(“model.txt”); "
        "XGBoost: model.save_model(“model.json”)).",
    )


def other_versions(card: ModelCard) -> str:
    """Return a sentence on the versions that a model was saved with, where others are installed."""
    saved = dict(text.rsplit(" ", 1) for text in card.saved_with.split(", ") if " " in text)
    wanted = wanted_environment(Contents("pickle", saved))
    if not wanted:
        return f" It was saved with {card.saved_with}." if card.saved_with else ""
    saved_with, present = spoken(wanted)
    return (
        f" It was saved with {saved_with}, and {present} is installed: open it with "
        f"{saved_with} in a separate environment."
    )


def looked_into(opened: OpenedModel) -> OpenedModel:
    """Say in the card of dense layers, a linear model among them, that they are known.

    Boosted trees that were trained on categories are read as the data that they are.
    """
    # what opens models in older Pythons does not look into them
    from fairdesk.models.boosting.opening import as_boosted  # noqa: PLC0415
    from fairdesk.models.sklearn.structure import LAYERED  # noqa: PLC0415
    from fairdesk.models.structure import Layers, OpaqueError  # noqa: PLC0415

    if not isinstance(opened, ScikitModel):
        return opened
    alone_there = unprepared(opened.estimator)
    if opened.asked.column is None and has_categories(alone_there):
        return as_boosted(opened.card, alone_there) or opened
    if type(innermost(opened.estimator)).__name__ not in LAYERED:
        return opened
    try:
        known = isinstance(opened.structure().body, Layers)
    except (OpaqueError, ModelError):
        return opened
    if not known:
        return opened
    opened.card = msgspec.structs.replace(opened.card, can=(*opened.card.can, Capability.LAYERS))
    return opened


def open_scikit(path: Path, *, trusted: bool = False, output: str = "") -> OpenedModel:
    """Open a pickle, joblib or skops file.

    Parameters
    ----------
    trusted : bool
        Whether its own code may run; needed only where the allow-list refuses it.
    output : str
        Which of several models or outputs is asked; the first when left out.

    Raises
    ------
    TrustRequiredError
        When the allow-list refuses it, and it is not trusted; then nothing of it was run.
    ModelError
        When it cannot be opened, or holds no trained classifier or regressor.
    """
    loaded = load(path, trusted=trusted)
    if type(loaded.thing).__name__ == "Booster" and hasattr(loaded.thing, "predict"):
        from fairdesk.models.boosting.opening import open_booster  # noqa: PLC0415 - rarely needed

        return open_booster(path, loaded.thing)
    found = _Found.of(loaded.thing, path)
    asked, outputs, chosen = _choose(found, path, output)
    notes = [*loaded.notes]
    if len(outputs) > 1 and not output:
        notes.append(f"It has several outputs: {_list(outputs)}. “{chosen}” is used.")
    estimator = asked.estimator
    gathered = _hints_in_file(found, asked, path)
    notes += gathered.notes
    card = _card(path, loaded, asked, gathered.hints(), (outputs, chosen), notes)
    opened = ScikitModel(card, estimator, asked)
    if gathered.before:
        return PreparedModel(opened, gathered.before)
    return _checked_on_sample(opened, asked)


@dataclass(frozen=True)
class _Found:
    """What a file holds: models by name, and everything else."""

    models: dict[str, Any]
    others: list[tuple[str, Any]]

    @classmethod
    def of(cls, thing: Any, path: Path) -> _Found:  # noqa: ANN401 - anything
        thing = adapted(thing)
        if is_estimator(thing):
            return cls({"": thing}, [])
        if isinstance(thing, (list, tuple)):
            parts = {str(i): part for i, part in enumerate(thing, start=1)}
        elif isinstance(thing, Mapping):
            parts = {str(name): part for name, part in thing.items()}
        else:
            parts = {}
        parts = {name: adapted(part) for name, part in parts.items()}
        models = {name: part for name, part in parts.items() if is_estimator(part)}
        inner = [
            name
            for name, part in parts.items()
            if isinstance(part, Mapping) and any(is_estimator(adapted(x)) for x in part.values())
        ]
        if not models and len(inner) == 1:
            within = {str(name): part for name, part in parts.pop(inner[0]).items()}
            return cls.of({**parts, **within}, path)
        if not models:
            raise _no_model(thing, path)
        others = [(name, part) for name, part in parts.items() if name not in models]
        first = sorted(models, key=lambda name: not any(w in name.casefold() for w in _MODEL_WORDS))
        return cls({name: models[name] for name in first}, others)


def _no_model(thing: object, path: Path) -> ModelError:
    kind = type(thing).__name__
    if hasattr(thing, "predict"):
        return ModelError(
            f"“{path.name}” contains a “{kind}”, which is not a trained classifier or regressor.",
            why="FairDesk audits models that decide between classes or estimate a number.",
            remedy="Choose a trained classifier or regressor, or audit the decisions that it made, "
            "as a column of the table (on the command line: --predictions).",
        )
    return ModelError(
        f"“{path.name}” contains no model, but a “{kind}”.",
        remedy=(
            "Save the trained classifier or pipeline itself with joblib.dump(). Add a scaler or "
            "encoders as a companion file."
        ),
    )


def _choose(found: _Found, path: Path, output: str) -> tuple[Asked, tuple[str, ...], str]:
    """Choose what is asked, of all models in the file and all their outputs."""
    offered: dict[str, Asked] = {}
    for name, model in found.models.items():
        for part, asked in asked_of(model, path).items():
            label = part if not name or len(found.models) == 1 else f"{name}: {part}"
            offered[(label[:-2] if label.endswith(": ") else label) or name] = asked
    if output and output not in offered:
        raise ModelError(
            f"“{path.name}” has no output “{output}”.",
            remedy=f"Choose one of: {_list(offered)}."
            if len(offered) > 1
            else "It has only one output.",
        )
    chosen = output or next(iter(offered))
    if len(offered) == 1:
        return offered[chosen], (), ""
    return offered[chosen], tuple(offered), chosen


def _hints_in_file(found: _Found, asked: Asked, path: Path) -> Preparation:
    """Take what lies beside the model in its file."""
    gathered = Preparation(Hints(), len(asked.inputs), asked.classes, named=asked.named)
    unused = gathered.take(found.others)
    if found.others:
        model = next(iter(found.models))
        gathered.explanations.insert(
            0, f"“{path.name}” contains several objects; its model is “{model}”."
        )
    gathered.notes += _thresholds(found.others)
    for name, thing in unused:
        names = names_of(thing)
        if names and words_of(name) & _LIST_WORDS and not is_part(name):
            gathered.notes.append(
                f"“{name}” names {len(names):,} columns, but the model takes {len(asked.inputs):,} "
                "inputs: it is not used."
            )
        if hasattr(thing, "transform"):
            gathered.notes.append(
                f"“{name}” ({type(thing).__name__}) is in the model’s file but not used: it does "
                "not state what it belongs to. Check the accuracy below."
            )
    return gathered


def _thresholds(things: list[tuple[str, Any]]) -> Iterator[str]:
    """Yield a note on each threshold beside a model: it is the auditor's to choose."""
    for name, thing in things:
        number = isinstance(thing, (float, np.floating)) and 0 < thing < 1
        if number and words_of(name) & _THRESHOLD_WORDS and thing != 1 / 2:
            yield (
                f"“{name}” in the model file is {thing:.6g}: if its decision changes there and not "
                "at 0.5, give this as the threshold."
            )


def _card(
    path: Path,
    loaded: Loaded,
    asked: Asked,
    hints: Hints,
    choice: tuple[tuple[str, ...], str],
    notes: list[str],
) -> ModelCard:
    estimator = shown = asked.estimator
    if isinstance(estimator, RandomisedClassifier):
        shown = estimator.model
        notes += [estimator.note] if estimator.note else []
        if estimator.groups and asked.named:
            groups = tuple(map(str, estimator.groups))
            hints = msgspec.structs.replace(hints, values={GROUP: groups, **hints.values})
    versions = loaded.contents.saved_with
    version = versions.get("scikit-learn", "")
    steps = [type(step).__name__ for _, step in getattr(estimator, "steps", [])]
    library = type(shown).__module__.partition(".")[0].replace("sklearn", "scikit-learn")
    own = versions.get(library, "")
    kind = " ".join(part for part in (library, own, "pipeline" if steps else "model") if part)
    can = [Capability.DECIDES]
    can += [Capability.SCORES] if asked.scores != "labels" else []
    can += [Capability.TREES] if trees_in(estimator) else []
    can += [Capability.TEXT] if prose_in(estimator) else []
    can += [Capability.RETRAINS] if trains(asked) else []
    saved = [f"{name} {text}" for name, text in versions.items() if name != "skops" and text]
    return ModelCard(
        path=str(path),
        sha256=sha256(path),
        format=kind,
        summary=f"{', then '.join(steps) if steps else type(innermost(shown)).__name__}, "
        f"{width_text(len(asked.inputs), len(asked.classes))}.",
        takes=asked.takes,
        inputs=asked.inputs,
        named=asked.named,
        classes=tuple(str(value) for value in asked.classes),
        scores=asked.scores,
        saved_with=", ".join(saved) if saved else f"scikit-learn {version}" if version else "",
        warnings=tuple(notes),
        can=tuple(can),
        accepts=kinds_of_inputs(estimator, asked.inputs),
        categories=categories_of_inputs(estimator, asked.inputs),
        missing=missing_of_inputs(estimator, asked.inputs),
        outputs=choice[0],
        output=choice[1],
        hints=hints,
        needed_trust=loaded.needed_trust,
        prepared=len(steps) > 1,
    )


def _checked_on_sample(opened: ScikitModel, asked: Asked) -> ScikitModel:
    """Ask a model of another version once: some open and fail only when they are asked."""
    if not opened.card.warnings:
        return opened
    row = sample_row(asked)
    try:
        opened.scores(
            [np.array([cell], dtype=object if isinstance(cell, str) else float) for cell in row]
        )
    except ModelError as error:
        note = f"It opened, but returned no output for a synthetic row. {error.why}"
        warnings = (*opened.card.warnings, note)
        opened.card = msgspec.structs.replace(opened.card, warnings=warnings)
    return opened


def _list(names: Any) -> str:  # noqa: ANN401 - any iterable of texts
    return ", ".join(f"“{name}”" for name in names)
