"""Tree models: walked node by node where a value is missing, as arrays of splits elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fairdesk.errors import ModelError
from fairdesk.models.pmml.document import Element, NotReadError
from fairdesk.models.pmml.expressions import Definitions
from fairdesk.models.pmml.fields import Answer, Float64, Kind, Places, Scope
from fairdesk.models.pmml.predicates import (
    PREDICATES,
    Predicate,
    Split,
    compiled,
    predicate_of,
    split_of,
)
from fairdesk.models.structure import Decides, Forest, sums

#: What is done where a value is missing, of the ways that are read.
_STRATEGIES = ("none", "lastPrediction", "nullPrediction", "defaultChild")
_OPPOSITE = {
    "lessThan": "greaterOrEqual",
    "lessOrEqual": "greaterThan",
    "greaterThan": "lessOrEqual",
    "greaterOrEqual": "lessThan",
    "equal": "notEqual",
    "notEqual": "equal",
    "isIn": "isNotIn",
    "isNotIn": "isIn",
}
#: So many rows go through all trees at once.
_ROWS = 2_048


@dataclass(slots=True)
class Node:
    """A node of a tree.

    Attributes
    ----------
    predicate : Element
        Who comes to it, of those at its parent.
    answer : NDArray[np.float64]
        ``(k + 1,)``; shares of the classes, or an amount, and the number of the decided class;
        NaN where it tells nothing.
    children : list[Node]
        In order.
    default : int
        Which child those go to of whom a value is missing; -1 where none is named.
    """

    predicate: Element
    answer: Float64
    children: list[Node] = field(default_factory=list)
    default: int = -1


@dataclass(frozen=True, slots=True)
class Tree:
    """A tree.

    Attributes
    ----------
    root : Node
        Its first node.
    missing : str
        What is done where a value is missing.
    falls_back : bool
        Whether who comes to no child gets the answer of the node before.
    """

    root: Node
    missing: str
    falls_back: bool


def read_tree(element: Element, classes: Sequence[str], *, votes: bool = False) -> Tree:
    """Read a tree model.

    Parameters
    ----------
    element : Element
        The ``TreeModel``.
    classes : sequence of str
        What is decided between; empty where an amount is estimated.
    votes : bool
        Whether leaves tell only their decision, not the shares of the classes.

    Raises
    ------
    NotReadError
        When it does something that is not read.
    """
    missing = element.get("missingValueStrategy", "none")
    if missing not in _STRATEGIES:
        raise NotReadError(f"trees that treat missing values by “{missing}”")
    first = element.one("Node")
    if first is None:
        raise NotReadError("a tree without nodes")
    places = {name: i for i, name in enumerate(classes)}
    nothing = np.full(max(len(classes), 1) + 1, np.nan)
    root = Node(predicate_of(first), _answer(first, places, nothing, votes=votes))
    waiting = [(first, root)]
    while waiting:
        source, node = waiting.pop()
        if source.all("DecisionTree", "Regression"):
            raise NotReadError("trees with models in their nodes")
        for child in source.all("Node"):
            made = _answer(child, places, node.answer, votes=votes)
            node.children.append(Node(predicate_of(child), made))
            if child.get("id") and child.get("id") == source.get("defaultChild"):
                node.default = len(node.children) - 1
            waiting.append((child, node.children[-1]))
    return Tree(root, missing, element.get("noTrueChildStrategy") == "returnLastPrediction")


def _answer(node: Element, places: dict[str, int], before: Float64, *, votes: bool) -> Float64:
    """Read what a node tells; what the one before told where it tells nothing."""
    score, distribution = node.attributes.get("score"), node.all("ScoreDistribution")
    if not places:
        return before if score is None else np.array([node.number("score"), 0.0])
    shares = np.zeros(len(places))
    for each in distribution:
        if each.get("value") not in places:
            raise NotReadError(f"the class “{each.get('value')}”, which its target does not have")
        shares[places[each.get("value")]] = each.number("probability", each.number("recordCount"))
    if score is None and not distribution:
        return before
    if score is not None and score not in places:
        raise NotReadError(f"the class “{score}”, which its target does not have")
    predicted_class = int(shares.argmax()) if score is None else places[score]
    if votes or not shares.sum() > 0:
        shares = np.zeros(len(places))
        shares[predicted_class] = 1.0
    return np.array([*(shares / shares.sum()), predicted_class], np.float64)


class Trees:
    """Trees over the same fields, whose answers are added up.

    Raises
    ------
    NotReadError
        When a predicate is not read.
    """

    def __init__(self, trees: Sequence[Tree], weights: Sequence[float], known: Definitions) -> None:
        self.trees = tuple(trees)
        self.weights = tuple(weights)
        self._kinds: dict[str, Kind] = known.kinds
        self._predicates: dict[int, Predicate] = {}
        self.columns: dict[str | tuple[object, ...], Predicate | str] = {}
        self._arrays = _Arrays(self)
        for tree, weight in zip(self.trees, self.weights, strict=True):
            self._arrays.plant(tree, weight)
        self.fields = tuple(self._arrays.fields)
        self.forest = self._arrays.forest("value")

    def sums(self, scope: Scope) -> Float64:
        """Add up the answers: ``(n, k + 1)``; NaN where a tree has none."""
        missing = np.zeros(scope.rows, bool)
        for name in self.fields:
            missing |= scope.column(name).missing
        total = np.empty((scope.rows, self.forest.value.shape[1]))
        whole = np.flatnonzero(~missing)
        for start in range(0, len(whole), _ROWS):
            rows = whole[start : start + _ROWS]
            total[rows] = sums(self.forest, self.matrix(scope, rows))
        rows = np.flatnonzero(missing)
        if rows.size:
            total[rows] = sum(
                weight * self._walked(tree, scope, rows)
                for tree, weight in zip(self.trees, self.weights, strict=True)
            )
        return total

    def matrix(self, scope: Scope, rows: Places) -> Float64:
        """Make the columns that splits look at: numbers, and 1 where a predicate is false."""
        made = np.empty((len(rows), len(self.columns)))
        for place, column in enumerate(self.columns.values()):
            if isinstance(column, str):
                made[:, place] = scope.column(column).values[rows]
            else:
                made[:, place] = ~column(scope, rows)[0]
        return made

    def predicate(self, element: Element) -> Predicate:
        """Make a predicate once."""
        if id(element) not in self._predicates:
            self._predicates[id(element)] = compiled(element, self._kinds)
        return self._predicates[id(element)]

    def split(self, element: Element) -> Split | None:
        """Return the split of a number that a predicate is."""
        return split_of(element, self._kinds)

    def _walked(self, tree: Tree, scope: Scope, rows: Places) -> Float64:
        answers = np.full((len(rows), len(tree.root.answer)), np.nan)
        true, unknown = self.predicate(tree.root.predicate)(scope, rows)
        waiting = [(tree.root, np.flatnonzero(true & ~unknown))]
        while waiting:
            node, places = waiting.pop()
            if not node.children:
                answers[places] = node.answer
                continue
            for child in node.children:
                true, unknown = self.predicate(child.predicate)(scope, rows[places])
                waiting.append((child, places[true & ~unknown]))
                stop = unknown & (tree.missing != "none")
                self._lost(tree, node, places[stop], answers, waiting)
                places = (
                    places[~true & ~stop] if tree.missing != "none" else places[~true | unknown]
                )
            if tree.falls_back:
                answers[places] = node.answer
        return answers

    @staticmethod
    def _lost(
        tree: Tree, node: Node, places: Places, answers: Float64, waiting: list[tuple[Node, Places]]
    ) -> None:
        """Decide about the rows for which a predicate is unknown."""
        if not places.size or tree.missing == "nullPrediction":
            return
        if tree.missing == "lastPrediction":
            answers[places] = node.answer
        elif node.default >= 0:
            waiting.append((node.children[node.default], places))
        else:
            raise ModelError(
                "The model does not specify what to do when a cell is missing.",
                why="Its tree names no child node for such rows, although it states that it does.",
                remedy="Exclude rows with missing cells.",
            )


class _Arrays:
    """Trees as arrays while they are gathered: each question is answered by yes (left) or no."""

    def __init__(self, owner: Trees) -> None:
        self._owner = owner
        self.fields: dict[str, None] = {}
        self._column: list[int] = []
        self._threshold: list[float] = []
        self._left: list[int] = []
        self._right: list[int] = []
        self._value: list[Float64] = []
        self._roots: list[int] = []
        self._places: dict[str | tuple[object, ...], int] = {}
        self._width = 0

    def plant(self, tree: Tree, weight: float) -> None:
        """Add a tree."""
        self._width = len(tree.root.answer)
        none = np.full(self._width, np.nan)
        # where to write the number of the node that is made: a side of a question
        waiting: list[tuple[Node, list[int], int]] = []
        roots = [0]
        if tree.root.predicate.tag == "True":
            waiting.append((tree.root, roots, 0))
        else:
            roots[0] = self._question(tree.root.predicate)
            yes, no = self._sides(roots[0], tree.root.predicate)
            waiting.append((tree.root, *yes))
            no[0][no[1]] = self._leaf(none)
        while waiting:
            node, side, at = waiting.pop()
            if not node.children:
                side[at] = self._leaf(node.answer * weight)
                continue
            for place, child in enumerate(node.children):
                if child.predicate.tag == "False":
                    continue
                last = place == len(node.children) - 1
                certain = child.predicate.tag == "True" or (
                    last and place == 1 and _opposite(node.children[0].predicate, child.predicate)
                )
                if certain:
                    waiting.append((child, side, at))
                    break
                side[at] = self._question(child.predicate)
                (left, left_at), (side, at) = self._sides(side[at], child.predicate)
                waiting.append((child, left, left_at))
            else:
                side[at] = self._leaf(node.answer * weight if tree.falls_back else none)
        self._roots.append(roots[0])

    def _question(self, predicate: Element) -> int:
        """Add a node that asks a predicate; gives its number."""
        owner = self._owner
        split = owner.split(predicate)
        key: str | tuple[object, ...]
        made: str | Predicate
        if split is not None:
            key, made, threshold = split.field, split.field, split.threshold
            self.fields[split.field] = None
        else:
            key, made, threshold = _key(predicate), owner.predicate(predicate), 0.5
            for each in predicate.everything():
                if each.tag in PREDICATES and each.get("field"):
                    self.fields[each.get("field")] = None
        owner.columns.setdefault(key, made)
        self._column.append(self._places.setdefault(key, len(self._places)))
        self._threshold.append(threshold)
        return self._node(np.zeros(self._width))

    def _sides(
        self, number: int, predicate: Element
    ) -> tuple[tuple[list[int], int], tuple[list[int], int]]:
        """Return where the nodes behind a question are noted: of those it is true of, and not."""
        split = self._owner.split(predicate)
        yes, no = (self._left, number), (self._right, number)
        return (no, yes) if split is not None and split.above else (yes, no)

    def _leaf(self, value: Float64) -> int:
        self._column.append(-1)
        self._threshold.append(0.0)
        return self._node(value)

    def _node(self, value: Float64) -> int:
        number = len(self._value)
        self._left.append(number)
        self._right.append(number)
        self._value.append(value)
        return number

    def forest(self, decides: Decides) -> Forest:
        """Return all trees as one forest."""
        count = len(self._column)
        return Forest(
            column=np.array(self._column, np.int64),
            left=np.array(self._left, np.int64),
            right=np.array(self._right, np.int64),
            threshold=np.array(self._threshold, np.float64),
            missing_left=np.zeros(count, bool),
            value=np.array(self._value, np.float64).reshape(count, self._width),
            roots=np.array(self._roots, np.int64),
            base=np.zeros(self._width),
            decides=decides,
            slack=0.0,
        )


def _key(element: Element) -> tuple[object, ...]:
    """Return what makes two predicates the same."""
    return (
        element.tag,
        *sorted(element.attributes.items()),
        element.text,
        *(_key(child) for child in element.children),
    )


def _opposite(first: Element, second: Element) -> bool:
    """Return whether of two predicates one is true wherever the other is not."""
    if first.tag != second.tag or first.get("field") != second.get("field"):
        return False
    name = "operator" if first.tag == "SimplePredicate" else "booleanOperator"
    if _OPPOSITE.get(first.get(name)) != second.get(name):
        return False
    if first.tag == "SimplePredicate":
        return first.get("value") == second.get("value")
    arrays = first.one("Array"), second.one("Array")
    return None not in arrays and arrays[0].text == arrays[1].text  # type: ignore[union-attr]


class TreePart:
    """One tree model.

    Parameters
    ----------
    element : Element
        The ``TreeModel``.
    classes : tuple[str, ...]
        What it decides between; empty where it estimates an amount.
    """

    def __init__(self, element: Element, classes: tuple[str, ...], known: Definitions) -> None:
        self.classes = classes
        self.trees = Trees([read_tree(element, classes)], [1.0], known)
        self.shares = bool(classes) and any(
            each.tag == "ScoreDistribution" for each in element.everything()
        )

    def answer(self, scope: Scope) -> Answer:
        """Answer for a batch."""
        sums = self.trees.sums(scope)
        if not self.classes:
            return Answer(sums[:, :1])
        return Answer(sums[:, :-1], _whole(sums[:, -1]))


def _whole(numbers: Float64) -> NDArray[np.intp]:
    """Return the numbers of classes; -1 where there is none."""
    return np.where(np.isnan(numbers), -1.0, numbers).astype(np.intp)
