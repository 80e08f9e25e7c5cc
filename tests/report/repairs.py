"""Made-up figures of repairs, as a run tells them: what came of adult-like data, and of less."""

import math

import msgspec

from fairdesk.results.mitigation import Change, Measure, Repair, Trial
from tests import phrases

TRAIN, VALIDATION, TEST, PEOPLE = 18_000, 6_000, 6_000, 20_000
_Z = 1.959964
#: What is measured as a share of so many; the rest is measured on the test rows, give or take.
_GIVE = {"auc": 0.008, "brier": 0.004, "calibration": 0.006, "impact_ratio": 0.06}


def measure(what, rows, estimate, people, of=""):
    """Return a measure with an interval as wide as it would be."""
    if what in ("certified", "falsified"):
        return Measure(what, of, rows, estimate, None, None, people)
    half = _GIVE.get(what, _Z * math.sqrt(max(estimate * (1 - estimate), 1e-6) / people))
    return Measure(
        what, of, rows, estimate, max(0.0, estimate - half), min(1.0, estimate + half), people
    )


def measures(accuracy, share, *, target="share_domain", proven=None):
    """Return all measures of a trial, in the order in which they are read."""
    lines = [
        measure("accuracy", "validation", accuracy + 0.002, VALIDATION),
        measure(target, "validation", share * 1.03, PEOPLE),
        measure("accuracy", "test", accuracy, TEST),
        measure("auc", "test", accuracy + 0.055, TEST),
        measure("brier", "test", 0.108 + (0.846 - accuracy) / 3, TEST),
        measure("calibration", "test", 0.021 + (0.846 - accuracy), TEST),
        measure("share_domain", "domain", share if target == "share_domain" else 0.041, PEOPLE),
        measure("share_data", "test", share * 0.55, TEST),
    ]
    for attribute in ("sex", "job"):
        lines += [
            measure("impact_ratio", "test", 0.36 - share, TEST, attribute),
            measure("rate_gap", "test", 0.17 + share, TEST, attribute),
            measure("error_gap", "test", 0.08 + share, TEST, attribute),
        ]
    if target == "rule_score":
        lines.append(measure("rule_score", "test", share, PEOPLE))
    if proven is not None:
        lines += [
            measure("certified", "domain", proven[0], 0),
            measure("falsified", "domain", proven[1], 0),
        ]
    return tuple(lines)


def changes(mine, others, against):
    """Compare the measures of two trials, pair by pair."""
    theirs = {(each.what, each.of, each.rows): each for each in others}
    told = []
    for each in mine:
        before = theirs.get((each.what, each.of, each.rows))
        if before is None or each.low is None:
            continue
        difference = each.estimate - before.estimate
        # paired: the same rows and people, of which most are decided alike
        half = 0.6 * math.hypot(each.high - each.estimate, before.high - before.estimate)
        p = math.erfc(abs(difference) / half * _Z / math.sqrt(2))
        exact = each.what in ("accuracy", "share_domain", "share_data")
        told.append(
            Change(
                *(each.what, each.of, each.rows, against),
                *(difference, difference - half, difference + half, p),
                "McNemar, exact" if exact else "bootstrap",
            )
        )
    return tuple(told)


def trials(*wanted):
    """Return trials of ``(fields, measures)``, each compared with the first two."""
    made = []
    for number, (fields, measured) in enumerate(wanted):
        compared = tuple(
            change
            for against in (1, 0)
            if number > against and against < len(made)
            for change in changes(measured, made[against].measures, against)
        )
        made.append(Trial(number=number, measures=measured, changes=compared, **fields))
    return tuple(made)


REPAIR = Repair(
    target="share_domain",
    chosen=4,
    pairs=1_305,
    rows=2_610,
    labels="majority",
    train=TRAIN,
    validation=VALIDATION,
    test=TEST,
    allowance=1.0,
    retrains=True,
    ended="Adding 11.7 % was shown to be worse than adding 2.9 %.",
    notes=("Of 1,402 pairs 97 are rows of the validation or test part, and were left out.",),
)
#: Five portions, one of them costly and one worse; Reweighing beside; one that came to nothing.
FIGURES = (
    REPAIR,
    *trials(
        ({"kind": "imported"}, measures(0.8462, 0.0391, proven=(0.8993, 0.0312))),
        ({"kind": "retrained", "seconds": 7.9, "front": True}, measures(0.8466, 0.0402)),
        (
            {"kind": "portion", "percent": 0.83, "added": 149, "seconds": 8.1, "verdict": "open"},
            measures(0.8455, 0.0388),
        ),
        (
            {
                "kind": "portion",
                "percent": 1.37,
                "added": 247,
                "seconds": 8.0,
                "verdict": "better",
                "front": True,
            },
            measures(0.8450, 0.0302),
        ),
        (
            {
                "kind": "portion",
                "percent": 2.94,
                "added": 529,
                "seconds": 8.4,
                "verdict": "better",
                "front": True,
            },
            measures(0.8433, 0.0184, proven=(0.9411, 0.0127)),
        ),
        (
            {
                "kind": "portion",
                "percent": 6.12,
                "added": 1_102,
                "seconds": 8.8,
                "verdict": "costly",
                "front": True,
            },
            measures(0.8301, 0.0151),
        ),
        (
            {
                "kind": "portion",
                "percent": 11.7,
                "added": 2_106,
                "seconds": 9.7,
                "verdict": "worse",
            },
            measures(0.8290, 0.0243),
        ),
        ({"kind": "other", "name": "Reweighing", "seconds": 8.2}, measures(0.8421, 0.0467)),
        (
            {
                "kind": "other",
                "name": "Correlation remover",
                "failed": "Training diverged: the loss was no number after 3 epochs.",
            },
            (),
        ),
    ),
)

#: A rule set whose score falls.
RULE_FIGURES = (
    msgspec.structs.replace(
        REPAIR,
        target="rule_score",
        chosen=3,
        pairs=9_120,
        rows=1_800,
        ended="10 % of the training rows were added, which is the most that was allowed.",
        notes=(),
    ),
    *trials(
        ({"kind": "imported"}, measures(0.8462, 0.202, target="rule_score")),
        (
            {"kind": "retrained", "seconds": 7.9, "front": True},
            measures(0.8466, 0.205, target="rule_score"),
        ),
        (
            {"kind": "portion", "percent": 0.28, "added": 50, "seconds": 8.0},
            measures(0.8460, 0.198, target="rule_score"),
        ),
        (
            {"kind": "portion", "percent": 10.0, "added": 1_800, "seconds": 8.9, "front": True},
            measures(0.8411, 0.101, target="rule_score"),
        ),
    ),
)

#: Nothing that was tried is shown to help.
HELPLESS_FIGURES = (
    msgspec.structs.replace(
        REPAIR, chosen=-1, ended="Two portions in a row were not shown to help.", notes=()
    ),
    *trials(
        ({"kind": "imported"}, measures(0.8462, 0.0391)),
        ({"kind": "retrained", "seconds": 7.9, "front": True}, measures(0.8466, 0.0402)),
        (
            {"kind": "portion", "percent": 0.83, "added": 149, "seconds": 8.1, "verdict": "open"},
            measures(0.8455, 0.0396),
        ),
        (
            {"kind": "portion", "percent": 1.37, "added": 247, "seconds": 8.0, "verdict": "open"},
            measures(0.8450, 0.0399),
        ),
    ),
)

#: A model that cannot be retrained: there are rows to add, and nothing else.
ROWS_ONLY_FIGURES = (
    msgspec.structs.replace(
        REPAIR,
        chosen=-1,
        retrains=False,
        ended=f"{phrases.NO_PORTION} It is ONNX: it {phrases.NOT_RETRAINED}.",
        notes=("There are augmentation rows, but no other model to compare.",),
    ),
    *trials(({"kind": "imported"}, measures(0.8462, 0.0391))),
)

ROSE = Change("share_data", "", "test", 1, 0.0487, 0.04, 0.0574, 1e-9, "McNemar, exact")


def _with_people(trial, share, *rises):
    """Return a trial with another share of test rows, and how it rose."""
    other = measure("share_data", "test", share, TEST)
    return msgspec.structs.replace(
        trial,
        measures=tuple(other if each.what == "share_data" else each for each in trial.measures),
        changes=tuple(each for each in trial.changes if each.what != "share_data") + rises,
    )


def _against_both(change):
    """Return a change from the baseline, and the same from the original model."""
    return change, msgspec.structs.replace(change, against=0)


#: Less discriminatory in the input domain than before, and more among the individuals.
HARMFUL_FIGURES = (
    FIGURES[0],
    _with_people(FIGURES[1], 0.1695),
    _with_people(FIGURES[2], 0.1701),
    *FIGURES[3:5],
    _with_people(FIGURES[5], 0.2188, *_against_both(ROSE)),
    *FIGURES[6:],
)
#: The same, and the rise may be sampling error.
PERHAPS_HARMFUL_FIGURES = (
    *HARMFUL_FIGURES[:5],
    _with_people(
        HARMFUL_FIGURES[5],
        0.1751,
        *_against_both(
            msgspec.structs.replace(ROSE, difference=0.005, low=-0.003, high=0.013, p=0.22)
        ),
    ),
    *HARMFUL_FIGURES[6:],
)
