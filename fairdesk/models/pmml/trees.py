"""Tree models, as arrays of splits; for rows with missing cells, as others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdesk.errors import ModelError
from fairdesk.models.pmml.document import (
    Answer,
    Element,
    Float64,
    Kind,
    NotReadError,
    Places,
    Scope,
)
from fairdesk.models.pmml.expressions import Definitions
from fairdesk.models.pmml.predicates import (
    PREDICATES,
    Predicate,
    Split,
    compiled,
    predicate_of,
    split_of,
)
from fairdesk.models.structure import Forest, sums

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

    Rows with a missing cell go through arrays of their own, in which each question that may be
    unknown is asked before whether it is.

    Parameters
    ----------
    trees : sequence of Tree
        They.
    weights : sequence of float
        What the answers of each count.
    known : Definitions
        The kinds of fields.
    """

    def __init__(self, trees: Sequence[Tree], weights: Sequence[float], known: Definitions) -> None:
        self.trees = tuple(trees)
        self._weights = tuple(weights)
        self._kinds: dict[str, Kind] = known.kinds
        self._predicates: dict[int, Predicate] = {}
        self._whole = _Arrays(self, missing=False)
        self._with_missing: _Arrays | None = None

    def sums(self, scope: Scope) -> Float64:
        """Add up the answers: ``(n, k + 1)``; NaN where a tree has none."""
        missing = np.zeros(scope.rows, bool)
        for name in self._whole.fields:
            missing |= scope.column(name).missing
        total = np.empty((scope.rows, self._whole.width + 1))
        self._add_up(self._whole, scope, np.flatnonzero(~missing), total)
        if missing.any():
            self._with_missing = self._with_missing or _Arrays(self, missing=True)
            self._add_up(self._with_missing, scope, np.flatnonzero(missing), total)
        if total[:, -1].any():
            raise ModelError(
                "The model does not specify what to do when a cell is missing.",
                why="Its tree names no child node for such rows, although it states that it does.",
                remedy="Exclude rows with missing cells.",
            )
        return total[:, :-1]

    @staticmethod
    def _add_up(arrays: _Arrays, scope: Scope, places: Places, total: Float64) -> None:
        for start in range(0, len(places), _ROWS):
            rows = places[start : start + _ROWS]
            matrix = np.empty((len(rows), len(arrays.columns)))
            for at, column in enumerate(arrays.columns.values()):
                matrix[:, at] = column(scope, rows)
            total[rows] = sums(arrays.forest, matrix)

    def plant(self, arrays: _Arrays) -> None:
        """Add all trees to arrays."""
        for tree, weight in zip(self.trees, self._weights, strict=True):
            arrays.plant(tree, weight)

    def predicate(self, element: Element) -> Predicate:
        """Make a predicate once."""
        if id(element) not in self._predicates:
            self._predicates[id(element)] = compiled(element, self._kinds)
        return self._predicates[id(element)]

    def split(self, element: Element) -> Split | None:
        """Return the split of a number that a predicate is."""
        return split_of(element, self._kinds)


#: Where the number of a node is noted that is made later: a side of a question.
_Sides = list[tuple[list[int], int]]


class _Arrays:
    """Trees as arrays: each question is answered by yes (left) or no.

    Beside its answer a leaf has a number that is 1 where the tree promises a child for missing
    cells and names none.

    Attributes
    ----------
    columns : dict
        What splits look at, in order: numbers, and 0 where a predicate is true.
    fields : dict
        The fields that are looked at.
    """

    def __init__(self, owner: Trees, *, missing: bool) -> None:
        self._owner = owner
        self._missing = missing
        self.width = len(owner.trees[0].root.answer)
        self.fields: dict[str, None] = {}
        self.columns: dict[object, Callable[[Scope, Places], NDArray[Any]]] = {}
        self._places: dict[object, int] = {}
        self._nodes: list[tuple[int, float, bool, Float64]] = []
        self._left: list[int] = []
        self._right: list[int] = []
        self._roots: list[int] = []
        owner.plant(self)
        column, threshold, missing_left, value = zip(*self._nodes, strict=True)
        self.forest = Forest(
            column=np.array(column, np.int64),
            left=np.array(self._left, np.int64),
            right=np.array(self._right, np.int64),
            threshold=np.array(threshold, np.float64),
            missing_left=np.array(missing_left, bool),
            value=np.array(value, np.float64),
            roots=np.array(self._roots, np.int64),
            base=np.zeros(self.width + 1),
            decides="value",
            slack=0.0,
        )

    def plant(self, tree: Tree, weight: float) -> None:
        """Add a tree."""
        none = np.full(self.width, np.nan)
        roots = [0]
        waiting: list[tuple[Node, _Sides]] = []
        if tree.root.predicate.tag == "True":
            waiting.append((tree.root, [(roots, 0)]))
        else:
            yes, no = self._question(tree.root.predicate, [(roots, 0)])
            waiting.append((tree.root, yes))
            self._leaf(none, no)
        while waiting:
            node, sides = waiting.pop()
            answer = node.answer * weight
            if not node.children:
                self._leaf(answer, sides)
                continue
            unknown: _Sides = []
            reached: list[_Sides] = []
            for child in node.children:
                reached.append(sides)
                if child.predicate.tag == "True" or (
                    not self._missing
                    and len(node.children) == len(reached) == 2
                    and _opposite(node.children[0].predicate, child.predicate)
                ):
                    sides = []
                    break
                if self._missing and tree.missing != "none":
                    lost, sides = self._question(child.predicate, sides, unknown=True)
                    unknown += lost
                reached[-1], sides = self._question(child.predicate, sides)
            waiting += zip(node.children, reached, strict=False)
            self._leaf(answer if tree.falls_back else none, sides)
            if unknown and tree.missing == "defaultChild" and node.default >= 0:
                waiting.append((node.children[node.default], unknown))
            elif tree.missing == "defaultChild":
                self._leaf(none, unknown, lost=True)
            else:
                self._leaf(answer if tree.missing == "lastPrediction" else none, unknown)
        self._roots.append(roots[0])

    def _question(
        self, predicate: Element, sides: _Sides, *, unknown: bool = False
    ) -> tuple[_Sides, _Sides]:
        """Add a node that asks a predicate, or whether it is unknown: return both its sides."""
        owner = self._owner
        split = None if unknown else owner.split(predicate)
        threshold, above, key = 0.5, False, (unknown, *_key(predicate))
        if split is None:
            asked = owner.predicate(predicate)
            self.columns.setdefault(key, lambda scope, rows: ~asked(scope, rows)[unknown])
        else:
            threshold, above, key = split.threshold, split.above, (split.field,)
            name = split.field
            self.columns.setdefault(key, lambda scope, rows: scope.column(name).values[rows])
        for each in predicate.everything():
            if each.tag in PREDICATES and each.get("field"):
                self.fields[each.get("field")] = None
        place = self._places.setdefault(key, len(self._places))
        # a missing number makes a comparison untrue
        number = self._node((place, threshold, above, np.zeros(self.width + 1)), sides)
        yes, no = [(self._left, number)], [(self._right, number)]
        return (no, yes) if above else (yes, no)

    def _leaf(self, value: Float64, sides: _Sides, *, lost: bool = False) -> None:
        if sides:
            self._node((-1, 0.0, False, np.append(value, lost)), sides)

    def _node(self, node: tuple[int, float, bool, Float64], sides: _Sides) -> int:
        number = len(self._nodes)
        self._nodes.append(node)
        self._left.append(number)
        self._right.append(number)
        for side, at in sides:
            side[at] = number
        return number


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
