"""Models within models: what each sees, what it predicts, and how several answer together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from fairdesk.models.pmml.document import (
    Answer,
    Column,
    DataField,
    Element,
    Float64,
    Kind,
    NotReadError,
    Part,
    Scope,
    Treatment,
)
from fairdesk.models.pmml.expressions import Definitions, Expression, derived_in, expression_of
from fairdesk.models.pmml.predicates import Predicate, compiled, predicate_of
from fairdesk.models.pmml.regression import GeneralRegressionPart, RegressionPart, ScorecardPart
from fairdesk.models.pmml.trees import Tree, TreePart, Trees, read_tree

#: Models that are read, by their elements.
_READ: dict[str, Callable[[Element, tuple[str, ...], Definitions], Part]] = {
    "TreeModel": TreePart,
    "RegressionModel": RegressionPart,
    "GeneralRegressionModel": GeneralRegressionPart,
    "Scorecard": ScorecardPart,
}
#: All elements of PMML that are models, whether they are read or not.
MODELS = (
    *(*_READ, "MiningModel", "NeuralNetwork", "SupportVectorMachineModel", "NaiveBayesModel"),
    *("RuleSetModel", "NearestNeighborModel", "ClusteringModel", "AssociationModel"),
    *("BayesianNetworkModel", "GaussianProcessModel", "BaselineModel", "SequenceModel"),
    *("TextModel", "TimeSeriesModel", "AnomalyDetectionModel"),
)
_ADDED = ("sum", "weightedSum", "average", "weightedAverage", "majorityVote")
_VOTES = ("majorityVote", "weightedMajorityVote")
_SEPARATE = ("median", "max")
_METHODS = (*_ADDED, "weightedMajorityVote", *_SEPARATE, "selectFirst", "modelChain")
#: More models within each other than this are refused.
_DEEPEST = 20


class Dictionary:
    """What the whole document defines."""

    def __init__(self, root: Element) -> None:
        fields = [each for each in root.within("DataDictionary") if each.tag == "DataField"]
        self.fields = {field.name: field for field in map(DataField.of, fields)}
        transformations = root.one("TransformationDictionary")
        functions = [] if transformations is None else transformations.all("DefineFunction")
        kinds: dict[str, Kind] = {name: field.kind for name, field in self.fields.items()}
        self.known = Definitions(kinds, {each.get("name"): each for each in functions})
        self.derived = derived_in(transformations, self.known)


class Model:
    """A model with its own fields, and what it makes of its answers.

    Attributes
    ----------
    part : Part
        What answers.
    classes : tuple[str, ...]
        What it decides between; empty where it estimates an amount.
    treatments : list[Treatment]
        Its mining schema.
    target : str
        The field that it predicts; empty where it names none.

    Raises
    ------
    NotReadError
        When it is of a kind, or does something, that is not read.
    """

    def __init__(
        self, element: Element, dictionary: Dictionary, known: Definitions, depth: int = 0
    ) -> None:
        if depth > _DEEPEST:
            raise NotReadError("models within models within models")
        self._dictionary = dictionary
        schema = element.one("MiningSchema")
        fields = [] if schema is None else schema.all("MiningField")
        self.treatments = [Treatment.of(each) for each in fields]
        self.target = next((each.name for each in self.treatments if each.target), "")
        self._own = [each for each in self.treatments if each.active]
        function = element.get("functionName")
        if function not in ("classification", "regression"):
            raise NotReadError(f"a model for “{function}”")
        self.classes = self._classes(element) if function == "classification" else ()
        self.known = known.copy()
        self._derived = derived_in(element.one("LocalTransformations"), self.known)
        if element.tag == "MiningModel":
            self.part: Part = _ensemble(element, self.classes, dictionary, self.known, depth)
        elif element.tag in _READ:
            self.part = _READ[element.tag](element, self.classes, self.known)
        else:
            raise NotReadError(f"a model of the kind “{element.tag}”")
        self._rescale = _of_targets(element, self.target) if not self.classes else None
        self.outputs = _outputs(element, self)

    def _classes(self, element: Element) -> tuple[str, ...]:
        field = self._dictionary.fields.get(self.target)
        if field is not None and field.valid:
            return tuple(_class_text(value) for value in field.valid)
        names = [
            each.get("value" if each.tag == "ScoreDistribution" else "targetCategory")
            for each in element.everything()
            if each.tag in ("ScoreDistribution", "RegressionTable", "PCell")
        ]
        names += [each.get("score") for each in element.everything() if each.tag == "Node"]
        classes = tuple(sorted({text for text in names if text}))
        if len(classes) < 2:
            raise NotReadError("a classification that does not name its classes")
        return classes

    def scope(self, around: Scope) -> Scope:
        """Return its fields, of those around it."""
        treated: dict[str, Column] = {}
        for each in self._own:
            column = around.column(each.name)
            if each.replacement is not None or each.outliers != "asIs":
                treated[each.name] = each.treated(None, column)
        return Scope(around.rows, treated, dict(self._derived), around)

    def answer(self, scope: Scope) -> Answer:
        """Answer for a batch; ``scope`` is that of `scope`."""
        answer = self.part.answer(scope)
        if self._rescale is not None:
            return Answer(self._rescale(answer.scores[:, 0])[:, None])
        return answer

    def output_columns(self, scope: Scope, answer: Answer) -> dict[str, Column]:
        """Return what it answered as fields: its target, and its outputs."""
        columns: dict[str, Column] = {}
        predicted = (
            answer.named(self.classes) if self.classes else Column("number", answer.scores[:, 0])
        )
        if self.target:
            columns[self.target] = predicted
        inner = Scope(scope.rows, columns, parent=scope)
        for name, output in self.outputs.items():
            columns[name] = output(inner, answer, predicted)
        return columns


Output = Callable[[Scope, Answer, Column], Column]


def _class_text(value: float | str) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _outputs(element: Element, model: Model) -> dict[str, Output]:
    """Read the output fields that later models may look at; others are left out."""
    outputs: dict[str, Output] = {}
    for field in element.within("Output"):
        feature, name = field.get("feature", "predictedValue"), field.get("name")
        if feature == "predictedValue":
            outputs[name] = lambda _, __, predicted: predicted
            model.known.kinds[name] = "text" if model.classes else "number"
        elif feature == "probability" and field.get("value") in model.classes:
            outputs[name] = _share(model.classes.index(field.get("value")))
            model.known.kinds[name] = "number"
        elif feature == "transformedValue":
            outputs[name] = _transformed(expression_of(field, model.known))
            model.known.kinds[name] = "number"
    return outputs


def _share(place: int) -> Output:
    return lambda _, answer, __: Column("number", answer.scores[:, place])


def _transformed(expression: Expression) -> Output:
    return lambda scope, _, __: expression(scope)


def _of_targets(element: Element, target: str) -> Callable[[Float64], Float64] | None:
    """Read what is made of an amount before it is told: limits, a scale, whole numbers."""
    wanted = [
        each
        for each in element.within("Targets")
        if each.tag == "Target" and each.get("field", target) == target
    ]
    if not wanted:
        return None
    (each, *_) = wanted
    low, high = each.number("min", -np.inf), each.number("max", np.inf)
    factor, constant = each.number("rescaleFactor", 1.0), each.number("rescaleConstant", 0.0)
    rounding: dict[str, Callable[[Float64], Float64]] = {
        "round": lambda x: np.floor(x + 0.5),
        "ceiling": np.ceil,
        "floor": np.floor,
    }
    whole = each.get("castInteger")
    if whole and whole not in rounding:
        raise NotReadError(f"whole numbers by “{whole}”")

    def rescale(values: Float64) -> Float64:
        made = np.clip(values, low, high) * factor + constant
        return np.asarray(rounding[whole](made) if whole else made)

    return rescale


def _ensemble(
    element: Element,
    classes: tuple[str, ...],
    dictionary: Dictionary,
    known: Definitions,
    depth: int,
) -> Part:
    segmentation = element.one("Segmentation")
    if segmentation is None:
        raise NotReadError("a mining model without segments")
    method = segmentation.get("multipleModelMethod")
    if method not in _METHODS:
        raise NotReadError(f"models that are combined by “{method}”")
    missing = segmentation.get("missingPredictionTreatment", "continue")
    if missing not in ("continue", "returnMissing"):
        raise NotReadError(f"missing outputs of parts treated by “{missing}”")
    trees = _forest(segmentation, method, classes, known)
    if trees is not None:
        return trees
    segments = []
    # a later model may look at what an earlier one told
    kinds = known.copy()
    for segment in segmentation.all("Segment"):
        models = segment.all(*MODELS)
        if not models:
            raise NotReadError("a segment without a model")
        model = Model(models[0], dictionary, kinds, depth + 1)
        predicate = compiled(predicate_of(segment), kinds.kinds)
        segments.append((predicate, segment.number("weight", 1.0), model))
        if method == "modelChain":
            if model.target and model.target not in kinds.kinds:
                kinds.kinds[model.target] = "text" if model.classes else "number"
            kinds.kinds.update({name: model.known.kinds[name] for name in model.outputs})
    if not segments:
        raise NotReadError("a mining model without segments")
    if method == "modelChain":
        return _Chain(segments, classes)
    return _Together(segments, classes, method)


_Segments = Sequence[tuple[Predicate, float, Model]]


def _forest(
    segmentation: Element, method: str, classes: tuple[str, ...], known: Definitions
) -> Part | None:
    """Read segments that are all trees of everybody, whose answers are added up."""
    if method not in _ADDED:
        return None
    trees, weights = [], []
    weighted = method.startswith("weighted")
    for segment in segmentation.all("Segment"):
        inner = segment.one("TreeModel")
        if inner is None or segment.one("True") is None:
            return None
        if inner.within("LocalTransformations") or inner.within("Targets"):
            return None
        schema = inner.one("MiningSchema")
        fields = [] if schema is None else [Treatment.of(e) for e in schema.all("MiningField")]
        if any(each.replacement is not None or each.outliers != "asIs" for each in fields):
            return None
        trees.append(read_tree(inner, classes, votes=method in _VOTES))
        weights.append(segment.number("weight", 1.0) if weighted else 1.0)
    if not trees:
        return None
    if method not in ("sum", "weightedSum") and not sum(weights) > 0:
        raise NotReadError("segments whose weights do not add up to more than 0")
    scale = 1.0 if method in ("sum", "weightedSum") else 1.0 / sum(weights)
    return ForestPart(trees, [weight * scale for weight in weights], classes, known, method)


class ForestPart:
    """Trees whose answers are added up.

    Attributes
    ----------
    trees : Trees
        They.
    classes : tuple[str, ...]
        What is decided between; empty where an amount is estimated.
    """

    shares = True

    def __init__(
        self,
        trees: Sequence[Tree],
        weights: Sequence[float],
        classes: tuple[str, ...],
        known: Definitions,
        method: str,
    ) -> None:
        self.classes = classes
        self.method = method
        self.trees = Trees(trees, weights, known)

    def answer(self, scope: Scope) -> Answer:
        """Answer for a batch."""
        sums = self.trees.sums(scope)
        return Answer(sums[:, :-1] if self.classes else sums[:, :1])


class _Chain:
    """Models one after the other: each may look at what those before it told; the last answers."""

    def __init__(self, segments: _Segments, classes: tuple[str, ...]) -> None:
        self.classes = classes
        self.segments = segments
        last = segments[-1][2]
        if bool(last.classes) != bool(classes) or (classes and last.classes != classes):
            raise NotReadError("a chain whose last model predicts something else")

    def answer(self, scope: Scope) -> Answer:
        """Answer for a batch."""
        everybody = np.arange(scope.rows)
        answer = None
        for predicate, _, model in self.segments:
            true, _ = predicate(scope, everybody)
            if not true.all():
                raise NotReadError("a chain that skips models for some rows")
            inner = model.scope(scope)
            answer = model.answer(inner)
            scope = Scope(scope.rows, model.output_columns(inner, answer), parent=scope)
        assert answer is not None  # noqa: S101 - there is one segment at least
        return answer


class _Together:
    """Models that answer together: by their mean, their votes, or the first that applies."""

    def __init__(self, segments: _Segments, classes: tuple[str, ...], method: str) -> None:
        self.classes = classes
        self._segments = segments
        self._method = method
        for _, _, model in segments:
            if bool(model.classes) != bool(classes) or not {*model.classes} <= {*classes}:
                raise NotReadError("parts that predict something else than the whole")

    def answer(self, scope: Scope) -> Answer:
        """Answer for a batch."""
        everybody = np.arange(scope.rows)
        width = max(len(self.classes), 1)
        scores, weights = [], []
        for predicate, weight, model in self._segments:
            true, unknown = predicate(scope, everybody)
            applies = true & ~unknown
            answer = model.answer(model.scope(scope))
            shares = np.full((scope.rows, width), np.nan)
            shares[applies] = self._aligned(answer, model)[applies]
            scores.append(shares)
            weights.append(weight)
        return Answer(self._combined(np.array(scores), np.array(weights)))

    def _aligned(self, answer: Answer, model: Model) -> Float64:
        """Bring a part's answer into the order of the whole's classes."""
        if not self.classes:
            return answer.scores
        places = [self.classes.index(name) for name in model.classes]
        shares = np.zeros((len(answer.scores), len(self.classes)))
        if self._method in _VOTES:
            chosen = answer.chosen
            shares[np.arange(len(chosen)), np.array(places)[chosen]] = 1.0
            shares[chosen < 0] = np.nan
        else:
            shares[:, places] = answer.scores
        return shares

    def _combined(self, scores: NDArray[np.float64], weights: NDArray[np.float64]) -> Float64:
        """Combine ``(parts, n, k)``; a part without an answer is left out."""
        there = np.isfinite(scores).all(axis=2)
        none = ~np.any(there, axis=0)
        if self._method == "selectFirst":
            first = there.argmax(axis=0)
            return np.asarray(scores[first, np.arange(scores.shape[1])])
        if self._method in _SEPARATE:
            if self.classes:
                raise NotReadError(f"shares of classes that are combined by “{self._method}”")
            filled = np.where(np.reshape(none, (1, -1, 1)), 0.0, scores)
            combine = np.nanmedian if self._method == "median" else np.nanmax
            made = combine(filled, axis=0)
        else:
            own = weights if self._method.startswith("weighted") else np.ones(len(weights))
            factor = np.reshape(own, (-1, 1)) * there
            made = (
                np.expand_dims(factor, 2) * np.where(np.expand_dims(there, 2), scores, 0.0)
            ).sum(axis=0)
            if self._method not in ("sum", "weightedSum"):
                with np.errstate(invalid="ignore", divide="ignore"):
                    made = made / np.reshape(factor.sum(axis=0), (-1, 1))
        return np.where(np.reshape(none, (-1, 1)), np.nan, made)


def model_of(root: Element, dictionary: Dictionary) -> Model:
    """Read the first model of a document.

    Raises
    ------
    NotReadError
        When there is none, or it does something that is not read.
    """
    found = root.all(*MODELS)
    if not found:
        raise NotReadError("no model: it holds data and transformations only")
    chosen = next((each for each in found if each.get("isScorable") != "false"), found[0])
    return Model(chosen, dictionary, dictionary.known)


def around(dictionary: Dictionary, model: Model, columns: Mapping[str, Column], rows: int) -> Scope:
    """Return what a document's fields are for a batch, as its model's schema treats them."""
    treated = {
        each.name: each.treated(dictionary.fields[each.name], columns[each.name])
        for each in model.treatments
        if each.active and each.name in columns
    }
    return Scope(rows, treated, dict(dictionary.derived))
