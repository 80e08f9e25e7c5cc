"""Files of boosted trees, told by how they begin."""

from __future__ import annotations

import re

#: How XGBoost's own binary form of before begins: with a name, or with 136 bytes of numbers and
#: then the objective with its length before it.
_OLD = re.compile(
    rb"binf|CONFIG-offset:|.{136}[\x03-\x30]\0{7}(binary|multi|reg|rank|count|survival):", re.DOTALL
)
_JSON_MODEL = re.compile(rb'\s*\{\s*"(learner|version)"\s*:\s*[\[{]')
#: A name in UBJSON: the type of its length, the length, and the name.
_UBJ_MODEL = re.compile(rb"\{[iUIlL].{1,8}learner", re.DOTALL)
_DUMPS = (
    (re.compile(rb"booster\[0\]:?\s"), "xgboost-dump"),
    (re.compile(rb'\s*\[\s*\{\s*"nodeid"\s*:'), "xgboost-dump"),
    (re.compile(rb'\s*\{\s*"name"\s*:\s*"tree"\s*,\s*"version"'), "lightgbm-dump"),
)
#: What `kind_of` tells of files that can be opened, and of all.
READABLE = frozenset({"xgboost-json", "xgboost-ubj", "lightgbm"})
BOOSTED = READABLE | {"xgboost-old", "xgboost-dump", "lightgbm-dump"}


def kind_of(head: bytes) -> str:
    """Tell files of boosted trees by how they begin; empty for all others.

    Returns
    -------
    str
        ``"xgboost-json"``, ``"xgboost-ubj"``, ``"lightgbm"``; of what is named only:
        ``"xgboost-old"``, ``"xgboost-dump"``, ``"lightgbm-dump"``.
    """
    if head.startswith((b"tree\nversion=", b"tree\r\nversion=")):
        return "lightgbm"
    if _UBJ_MODEL.match(head):
        return "xgboost-ubj"
    if _JSON_MODEL.match(head) and b'"learner"' in head:
        return "xgboost-json"
    if _OLD.match(head):
        return "xgboost-old"
    return next((kind for begins, kind in _DUMPS if begins.match(head)), "")


__all__ = ["BOOSTED", "READABLE", "kind_of"]
