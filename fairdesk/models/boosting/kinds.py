"""Files of boosted trees, told by how they begin."""

from __future__ import annotations

import re

#: How files begin: JSON with its first name; UBJSON with the type and number of that name's length
#: before it; XGBoost's binary form of before with a name, or with 136 bytes of numbers, the length
#: of the objective and the objective.
_BEGINS = {
    "catboost-cbm": rb"CBM1",
    "catboost-json": rb'\s*\{\s*"(features_info|ctr_data)"\s*:\s*\{',
    "lightgbm": rb"tree\r?\nversion=",
    "xgboost-ubj": rb"\{[iUIlL].{1,8}learner",
    "xgboost-json": rb'\s*\{\s*("version"\s*:\s*\[.*)?"learner"\s*:\s*[\[{]',
    "xgboost-old": rb"binf|CONFIG-offset:|.{136}[\x03-\x30]\0{7}(binary|multi|reg|rank|count|surv)",
    "xgboost-dump": rb'booster\[0\]:?\s|\s*\[\s*\{\s*"nodeid"\s*:',
    "lightgbm-dump": rb'\s*\{\s*"name"\s*:\s*"tree"\s*,\s*"version"',
}
_PATTERNS = {kind: re.compile(begins, re.DOTALL) for kind, begins in _BEGINS.items()}
#: What `kind_of` tells of files that can be opened, and of all.
READABLE = frozenset({"xgboost-json", "xgboost-ubj", "lightgbm", "catboost-cbm", "catboost-json"})
BOOSTED = READABLE | {"xgboost-old", "xgboost-dump", "lightgbm-dump"}


def kind_of(head: bytes) -> str:
    """Return the kind of a file of boosted trees by its first bytes; empty for all others.

    Returns
    -------
    str
        ``"xgboost-json"``, ``"xgboost-ubj"``, ``"lightgbm"``, ``"catboost-cbm"``,
        ``"catboost-json"``; of what is named only:
        ``"xgboost-old"``, ``"xgboost-dump"``, ``"lightgbm-dump"``.
    """
    return next((kind for kind, begins in _PATTERNS.items() if begins.match(head)), "")
