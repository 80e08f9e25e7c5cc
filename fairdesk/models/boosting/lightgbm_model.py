"""LightGBM's models as its own text tells them, versions v2 to v4 of that text."""

from __future__ import annotations

import json
import re

import numpy as np
from numpy.typing import NDArray

from fairdesk.models.boosting.ensemble import (
    MOST_CLASSES,
    MOST_INPUTS,
    BrokenError,
    Ensemble,
    Link,
    Reading,
    Tree,
    UnsupportedError,
    column_of,
    gathered,
    whole_number,
)
from fairdesk.models.model import number_of

_VALUES, _PROBABILITIES = "values", "probabilities"
_OBJECTIVES: dict[str, tuple[Link, str]] = {
    "binary": ("logistic", _PROBABILITIES),
    "multiclass": ("softmax", _PROBABILITIES),
    "multiclassova": ("logistic", _PROBABILITIES),
    "cross_entropy": ("logistic", _VALUES),
    "cross_entropy_lambda": ("softplus", _VALUES),
    **dict.fromkeys(
        (
            *("regression", "regression_l1", "huber", "fair", "quantile", "mape"),
            *("lambdarank", "rank_xendcg"),
        ),
        ("identity", _VALUES),
    ),
    **dict.fromkeys(("poisson", "gamma", "tweedie"), ("exponential", _VALUES)),
}
_NUMBERED = re.compile(r"Column_\d+", re.ASCII)
_TREE = re.compile(r"^Tree=\d+$", re.MULTILINE | re.ASCII)
_CATEGORIES = "\npandas_categorical:"


def read_lightgbm(text: str) -> Reading:
    """Read a model.

    Raises
    ------
    BrokenError
        When it is not what LightGBM writes.
    UnsupportedError
        When it is a kind of model that is not read.
    """
    header, *blocks = _TREE.split(text)
    settings = _settings(header)
    groups = whole_number(settings, "num_tree_per_iteration", MOST_CLASSES)
    width = whole_number(settings, "max_feature_idx", MOST_INPUTS) + 1
    if "end of trees" not in text[-len(blocks[-1]) if blocks else 0 :]:
        raise BrokenError("it ends too early")
    sizes = settings.get("tree_sizes", "").split()
    if "tree_sizes" in settings and len(sizes) != len(blocks):
        raise BrokenError(f"it claims {len(sizes):,} trees and has {len(blocks):,}")
    if not groups or len(blocks) % groups:
        raise BrokenError(f"{len(blocks):,} trees do not match {groups:,} classes")
    link, scores, scale = _objective(settings, groups)
    trees = gathered(
        [_tree(_settings(block.lstrip("\n")), i % groups) for i, block in enumerate(blocks)],
        width,
        groups,
    )
    share = len(trees) // groups if "average_output" in settings else 1
    body = Ensemble(trees, width, np.zeros(groups), np.float64, link, scale, share)
    names = settings.get("feature_names", "").split(" ") if settings.get("feature_names") else []
    if len(names) not in (0, width):
        raise BrokenError(f"it names {len(names):,} inputs, and has {width:,}")
    own = () if all(map(_NUMBERED.fullmatch, names)) else tuple(names)
    codes = _codes(text, settings, body)
    custom = "It was trained with a custom objective: its scores are used unchanged."
    notes = () if settings.get("objective") else (custom,)
    classes = tuple(map(str, range(max(2, groups)))) if scores != _VALUES else ()
    summary = number_of(len(trees), "tree")
    return Reading(body, scores, classes, own, "LightGBM", summary, codes, notes)


def _settings(text: str) -> dict[str, str]:
    """Read lines of the form ``name=value``, up to the first empty one."""
    lines = text.lstrip("\n").partition("\n\n")[0].splitlines()
    return {name: value for name, _, value in (line.partition("=") for line in lines)}


def _objective(header: dict[str, str], groups: int) -> tuple[Link, str, float]:
    """Return how sums become answers, what these are, and the scale of the logistic function."""
    name, *settings = header.get("objective", "").split() or [""]
    if name in ("", "custom", "none"):
        return "identity", "scores" if groups > 2 else _VALUES, 1.0
    if name not in _OBJECTIVES:
        raise UnsupportedError(
            f"it was trained with the objective “{name[:80]}”",
            "Ask for the model’s scores as a column of the data.",
        )
    link, scores = _OBJECTIVES[name]
    if (groups > 1) != name.startswith("multiclass"):
        raise BrokenError(f"{groups:,} classes do not match “{name}”")
    if "sqrt" in settings:
        link = "square"
    scale = 1.0
    for each in settings:
        if each.startswith("sigmoid:") and link == "logistic":
            scale = float(_doubles({"sigmoid": each[8:]}, "sigmoid", 1)[0])
    if not 0.0 < scale < np.inf:
        raise BrokenError(f"the steepness of its logistic function is {scale}")
    return link, scores, scale


def _tree(settings: dict[str, str], group: int) -> Tree:
    """Read a tree whose splits are numbered from 0, and its leaves ``-1 - number``."""
    if settings.get("is_linear", "0") != "0":
        raise UnsupportedError(
            "its trees end in linear models",
            "Ask for the LGBMClassifier or LGBMRegressor itself, saved with joblib.dump(), or for "
            "a model trained without “linear_tree”.",
        )
    leaves = whole_number(settings, "num_leaves", 1 << 31)
    value = _doubles(settings, "leaf_value", leaves)
    if not leaves:
        raise BrokenError("a tree has no leaves")
    splits = leaves - 1
    none = np.full(leaves, -1)
    column = _whole(settings, "split_feature", splits)
    if (column < 0).any():
        raise BrokenError("a node uses an input that does not exist")
    threshold = _doubles(settings, "threshold", splits)
    # bit 0: categories; bit 1: missing ones to the left; bits 2 and 3: what is missing
    ways = _whole(settings, "decision_type", splits)
    named, default, missing = ways & 1 == 1, ways & 2 == 2, (ways >> 2) & 3
    if (missing == 3).any():
        raise BrokenError("its encoding of missing values is not valid")
    children = []
    for name in ("left_child", "right_child"):
        child = _whole(settings, name, splits)
        if ((child >= splits) | (child < -leaves)).any():
            raise BrokenError("a branch leads to a node that does not exist")
        children.append(np.concatenate([np.where(child < 0, splits - 1 - child, child), none]))
    # where nothing counts as missing, what is not there is taken for 0
    missing_left = ~named & np.where(missing == 0, threshold >= 0, default)
    return Tree(
        np.concatenate([column, none]),
        children[0],
        children[1],
        np.concatenate([np.where(named, 0.0, threshold), np.zeros(leaves)]),
        np.concatenate([missing_left, none > 0]),
        np.concatenate([np.zeros(splits), value]),
        group,
        zero_missing=np.concatenate([~named & (missing == 1), none > 0]),
        sets=_sets(settings, np.flatnonzero(named), threshold),
    )


def _sets(
    settings: dict[str, str], nodes: NDArray[np.intp], threshold: NDArray[np.float64]
) -> dict[int, NDArray[np.bool_]]:
    """Read which categories go to the left, as bits of words; all others go to the right."""
    if not nodes.size:
        return {}
    starts = _whole(settings, "cat_boundaries")
    words = _whole(settings, "cat_threshold")
    if len(starts) < 2 or starts[0] < 0 or (np.diff(starts) < 0).any() or starts[-1] > len(words):
        raise BrokenError("the categories of its splits are missing")
    if ((words < 0) | (words >= 1 << 32)).any():
        raise BrokenError("the categories of its splits are not bits")
    found = {}
    for node in nodes.tolist():
        which = threshold[node]
        if not 0 <= which < len(starts) - 1:
            raise BrokenError("the categories of its splits are missing")
        own = words[starts[int(which)] : starts[int(which) + 1]]
        found[node] = ((own[:, None] >> np.arange(32)) & 1).ravel() == 1
    return found


def _doubles(settings: dict[str, str], name: str, length: int | None = None) -> NDArray[np.float64]:
    try:
        found = np.array(settings.get(name, "").split(), dtype=np.float64)
    except ValueError as error:
        raise BrokenError(f"“{name}” is not a list of numbers") from error
    return column_of(found, name, np.float64, length)


def _whole(settings: dict[str, str], name: str, length: int | None = None) -> NDArray[np.int64]:
    return column_of(_doubles(settings, name), name, np.int64, length)


def _codes(text: str, settings: dict[str, str], body: Ensemble) -> dict[int, dict[str, float]]:
    """Return the categories that the training table had, by their numbers.

    They stand in the order of the table's columns, and the header says of each input whether it
    has categories, unless all of them are alike.
    """
    looked = np.flatnonzero(body.categorical).tolist()
    _, found, rest = text.rpartition(_CATEGORIES)
    try:
        lists = json.loads(rest.strip().partition("\n")[0]) if found else None
    except (ValueError, RecursionError):
        lists = None
    ranges = settings.get("feature_infos", "").split()
    places = [i for i, each in enumerate(ranges) if each != "none" and not each.startswith("[")]
    codes = {}
    if isinstance(lists, list) and len(lists) == len(places) and set(looked) <= set(places):
        for place, values in zip(places, lists, strict=True):
            texts = list(map(str, values)) if isinstance(values, list) else []
            if texts and len(set(texts)) == len(texts):
                codes[place] = {each: float(i) for i, each in enumerate(texts)}
    return codes
