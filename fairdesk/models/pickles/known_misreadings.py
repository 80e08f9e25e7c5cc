"""Models that open in another version of their library and then answer wrongly, without a word.

What fails is seen, and what only warns is shown. This is about the few things that scikit-learn
does neither for: found by opening what 1.1 to 1.8 have saved, and comparing answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version

import numpy as np

#: Trees that decide; their leaves hold shares since 1.4, and counts before.
_TREES = frozenset({"DecisionTreeClassifier", "ExtraTreeClassifier"})
#: Modules whose objects may hold models.
_LIBRARIES = ("sklearn.", "imblearn.")


def misread(thing: object) -> str:
    """Return why what was opened answers otherwise than when it was saved.

    Parameters
    ----------
    thing : object
        What a pickle held: a model, or what holds models.

    Returns
    -------
    str
        The reason, one sentence; empty when nothing of the kind is in it.
    """
    installed = tuple(map(int, version("scikit-learn").split(".")[:2]))
    for part in _parts(thing):
        name = type(part).__name__
        if installed >= (1, 4) and name in _TREES and _counts(part):
            return (
                "Since version 1.4, scikit-learn reads the values in the leaves of its trees "
                "as shares; before, they were numbers of training rows."
            )
        if installed >= (1, 6) and name == "AdaBoostClassifier" and _real(part):
            return (
                "Since version 1.6, scikit-learn no longer supports the way in which such an "
                "AdaBoost model decides."
            )
    return ""


def _counts(tree: object) -> bool:
    grown = getattr(tree, "tree_", None)
    return grown is not None and not np.allclose(grown.value.sum(axis=-1), 1.0)


def _real(boosted: object) -> bool:
    return getattr(boosted, "algorithm", "") == "SAMME.R"


def _parts(thing: object) -> Iterator[object]:
    """Yield the library's objects in something, however deep they lie."""
    waiting, seen = [thing], set()
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, dict):
            waiting.extend(part.values())
        elif isinstance(part, (list, tuple)):
            waiting.extend(part)
        elif isinstance(part, np.ndarray):
            waiting.extend(part.ravel().tolist() if part.dtype == object else ())
        elif type(part).__module__.startswith(_LIBRARIES):
            yield part
            waiting.extend(getattr(part, "__dict__", {}).values())
