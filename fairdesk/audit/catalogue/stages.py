"""What a run is doing, in words: for the keys by which methods name their phases."""

from __future__ import annotations

#: Compiled once on a computer, here or on workers, and kept: no part of any run's time.
COMPILING, COMPILING_THERE = "compiling", "compiling-there"
UNTIMED = frozenset({COMPILING, COMPILING_THERE})
#: What a run does before its method has anything to report.
LOADING, PREPARING = "starting", "preparing"
#: What a run on a cluster does before its first part is dealt.
ON_WORKERS = "workers"
#: What comes before the method can begin: no part of the time limit of an audit.
NOT_BEGUN = UNTIMED | {LOADING, ON_WORKERS}
#: Phases in which rows are sent before the method itself begins.
BEFORE = frozenset({"preliminary", "baseline"})

_STAGES = {
    "": "starting",
    LOADING: "loading the method",
    COMPILING: "compiling, once on this computer",
    COMPILING_THERE: "preparing workers: compiling, once on each computer",
    PREPARING: "preparing the data",
    ON_WORKERS: "opening the model on the workers",
    "preliminary": "checking the model on data rows",
    "baseline": "sampling at random, for comparison",
    # searches for pairs
    "global": "searching from data rows",
    "local": "searching near the pairs found",
    "uniform": "sampling",
    "directed": "following decision paths",
    "seeds": "searching from data rows",
    "undirected": "following other decision paths",
    "support": "counting all rows",
    "sizes": "comparing gradient estimates",
    # shares
    "random": "sampling",
    "exhaustive": "counting all combinations",
    # certification
    "looking": "reading the model’s structure",
    "rows": "querying the data rows",
    "certify": "bounding regions",
    "dividing": "dividing regions",
    "counting": "counting combinations",
    "neighbourhoods": "bounding around the data rows",
    "rates": "bounding the rates of groups",
    "attributes": "certifying single attributes",
    "examples": "looking for examples",
    "estimating": "estimating the undecided rest",
    "writing": "writing the proof certificate",
    "fairquant": "bounding regions",
    "smt": "solving",
    # groups
    "labels": "counting recorded outcomes",
    "answers": "querying the model",
    "decisions": "counting decisions",
    "asking": "querying the model",
    "reading": "reading the texts",
    "confirming": "re-querying the model",
    "fitting": "fitting subgroups",
    "samples": "sampling",
    "data": "querying the data rows",
    "rules": "listing subgroups",
    # mitigation
    "splitting": "dividing the rows",
    "labelling": "labelling augmentation rows",
    "imported": "measuring the original model",
    "retraining": "training the retrained baseline",
    "comparing": "training a comparison method",
    "proving": "certifying, before and after",
    "saving": "writing the models",
}


def stage(phase: str) -> str:
    """Return in words what a run is doing; a phase that has no words of its own as it is."""
    return _STAGES.get(phase, phase)
