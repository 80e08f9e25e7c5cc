"""Figures of a mitigation: the trials it made, how they measure up, and what it made for them."""

from __future__ import annotations

from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

#: What is measured of a model, in the order in which it is read. Shares and rates go from 0 to 1.
What = Literal[
    "accuracy",
    "auc",
    "brier",
    "calibration",
    "share_domain",
    "share_data",
    "impact_ratio",
    "rate_gap",
    "error_gap",
    "rule_score",
    "certified",
    "falsified",
]


class Measure(msgspec.Struct, frozen=True):
    """One thing that was measured of one model.

    Attributes
    ----------
    what : str
        ``"accuracy"``, ``"auc"``, ``"brier"`` (mean squared error of the favourable score),
        ``"calibration"`` (expected calibration error over ten bins), ``"share_domain"`` and
        ``"share_data"`` (estimated share of individual discriminatory people), ``"impact_ratio"``
        (least of a group's rate by the greatest), ``"rate_gap"`` (greatest difference of two
        groups' favourable rates), ``"error_gap"`` (of their true or false positive rates, the
        greater), ``"rule_score"`` (TestSGD's, of the rule set that is repaired), ``"certified"``
        and ``"falsified"`` (shares of the domain, proven).
    of : str
        Of groups: the attribute; else empty.
    rows : str
        On whom: the ``"validation"`` or ``"test"`` rows, or people drawn from the ``"domain"``.
        What is chosen by looks at validation rows only.
    estimate, low, high : float, optional
        With its 95 % interval; ``None`` where it is undefined, or has none (what is proven).
    n_samples : int
        How many rows, or people, it was measured on.
    """

    what: What
    of: str
    rows: Literal["validation", "test", "domain"]
    estimate: float | None
    low: float | None
    high: float | None
    n_samples: int


class Change(msgspec.Struct, frozen=True):
    """How one thing differs between two models, both asked about the same rows or people.

    Attributes
    ----------
    what, of, rows
        As of `Measure`.
    against : int
        The number of the trial that it is compared with.
    difference, low, high : float, optional
        This trial's less that one's, with the 95 % interval of paired differences.
    p : float, optional
        Of the paired test that there is no difference; two-sided.
    test : str
        Which one: ``"McNemar, exact"``, ``"bootstrap"``; empty for none.
    """

    what: What
    of: str
    rows: Literal["validation", "test", "domain"]
    against: int
    difference: float | None
    low: float | None
    high: float | None
    p: float | None = None
    test: str = ""


class Trial(msgspec.Struct, frozen=True, tag="CandidateModel"):
    """One model that a repair measured.

    Attributes
    ----------
    number : int
        From 0. 0 is the model as it was imported; 1 is the same retrained with nothing added, what
        every other one is compared with, where the model can be retrained.
    kind : str
        ``"imported"``, ``"retrained"`` (nothing added), ``"portion"``, or ``"other"`` (a method
        beside which it stands).
    name : str
        Of ``"other"``: which one (``"Reweighing"``). Else empty.
    percent : float
        Of ``"portion"``: what was asked to be added, in percent of the training rows.
    added : int
        Rows that were added; the first so many of the run's `Augmented`.
    measures : tuple[Measure, ...]
        In the order in which they are read; empty where it failed.
    changes : tuple[Change, ...]
        Against trial 1, and trial 0.
    seconds : float
        What training took.
    verdict : str
        What the search over portions made of it: ``"better"`` or ``"worse"`` than the best before
        (the interval of the paired difference leaves nought out), ``"open"`` (it does not),
        ``"costly"`` (accuracy fell by more than allowed); empty outside that search.
    front : bool
        Whether no other trial is at least as accurate and less discriminatory, on the validation
        rows.
    failed : str
        Why there is no model: a whole sentence; empty where there is one.
    """

    number: int
    kind: Literal["imported", "retrained", "portion", "other"]
    name: str = ""
    percent: float = 0.0
    added: int = 0
    measures: tuple[Measure, ...] = ()
    changes: tuple[Change, ...] = ()
    seconds: float = 0.0
    verdict: Literal["", "better", "worse", "open", "costly"] = ""
    front: bool = False
    failed: str = ""


class Repair(msgspec.Struct, frozen=True, tag="Mitigation"):
    """What a repair came to; the first figure of its run, before its trials.

    Attributes
    ----------
    target : str
        What is to fall: ``"share_domain"`` or ``"rule_score"``.
    chosen : int
        The number of the best trial that costs no more accuracy than allowed; -1 for none.
    pairs : int
        Discriminatory pairs (or samples of the rule set) that rows could be made from.
    rows : int
        Rows made from them, at most: what the greatest portion can take.
    labels : str
        Where their labels come from: an option of the method.
    train, validation, test : int
        Rows of each part of the data.
    allowance : float
        How many percentage points of accuracy it may cost.
    retrains : bool
        Whether the model can be retrained; else there are rows to add only.
    ended : str
        Why no further portion was tried: a whole sentence.
    notes : tuple[str, ...]
        What must be known beside: whole sentences.
    """

    target: Literal["share_domain", "rule_score"]
    chosen: int
    pairs: int
    rows: int
    labels: str
    train: int
    validation: int
    test: int
    allowance: float
    retrains: bool
    ended: str = ""
    notes: tuple[str, ...] = ()


class Augmented(msgspec.Struct, frozen=True, tag=True):
    """The rows that a repair adds to the training data; a trial adds the first so many of them.

    Attributes
    ----------
    phase : str
        The phase that made them.
    rows : NDArray[np.float64]
        ``(m, d)`` codes of the domain's attributes. Of a column of texts the codes after its last
        are ``texts``.
    labels : NDArray[np.int64]
        ``(m,)``; the class of each, a position in the model's own classes.
    pairs : NDArray[np.int64]
        ``(m,)``; the number of the finding that it is of; -1 for none (a sample of a rule set).
    seeds : NDArray[np.int64]
        ``(m,)``; the place in the table of the real row nearest to it, or that it was made from.
    texts : tuple[str, ...]
        New texts.
    """

    phase: str
    rows: NDArray[np.float64]
    labels: NDArray[np.int64]
    pairs: NDArray[np.int64]
    seeds: NDArray[np.int64]
    texts: tuple[str, ...] = ()


#: What a file of a retrained model may be called.
ModelFileName = Literal["model.keras", "model.joblib", "model.skops", "model.onnx"]


class Retrained(msgspec.Struct, frozen=True, tag=True):
    """A file of a model that a repair has trained.

    Attributes
    ----------
    phase : str
        The phase that trained it.
    trial : int
        Which trial's.
    name : str
        The file's name.
    note : str
        How it was checked, or why there is no such file (then it is empty): a whole sentence.
    content : NDArray[np.int8]
        Its bytes, ``(n,)``.
    """

    phase: str
    trial: int
    name: ModelFileName
    note: str
    content: NDArray[np.int8]


__all__ = [
    "Augmented",
    "Change",
    "Measure",
    "ModelFileName",
    "Repair",
    "Retrained",
    "Trial",
    "What",
]
