"""Figures about groups, written by hand: of the people in `tests.report.building.write_people`."""

from fairdesk.results.groups import GroupGap
from fairdesk.results.proofs import Condition
from fairdesk.results.subgroups import (
    Flip,
    LinearGroup,
    RuleSearchSummary,
    RuleSet,
    Support,
    TermRate,
    Variant,
)

FEMALE = Condition("sex", codes=(0.0,))
MALE = Condition("sex", codes=(1.0,))
OLD = Condition("age", low=60.0)
OLDER = Condition("age", low=50.0)
YOUNG = Condition("age", high=29.0)


def rule_set(conditions, phi_in, phi_out, **about):
    """Make a rule set; what is not told is made up."""
    score = abs(phi_in - phi_out)
    told = {
        "outcome": "yes",
        "margin": 0.04,
        "confidence": 0.9025,
        "support": 0.2,
        "rows": 40,
        "n_in": 1_000,
        "n_out": 1_200,
        "low": phi_in - phi_out - 0.06,
        "high": phi_in - phi_out + 0.06,
        "p": 0.0004,
        "data_in": phi_in + 0.02,
        "data_out": phi_out - 0.02,
        "holds_on_data": True,
        **about,
    }
    return RuleSet(tuple(conditions), phi_in=phi_in, phi_out=phi_out, score=score, **told)


MINED = RuleSearchSummary(
    "yes",
    ("age", "sex"),
    0.05,
    1_590,
    2_310,
    48_000,
    0.048,
    2.4,
    sweep=(
        Support(0.05, 1_590, 0.624, (OLD, FEMALE)),
        Support(0.1, 720, 0.52, (OLDER, FEMALE)),
        Support(0.2, 110, 0.31, (FEMALE,)),
    ),
)
WORST = rule_set(
    (OLD, FEMALE),
    0.207,
    0.831,
    support=0.12,
    rows=24,
    broader=(Variant((OLD,), 0.58, 0.25, 0.31), Variant((FEMALE,), 0.04, 0.7, 0.5)),
    narrower=(Variant((Condition("age", low=70.0), FEMALE), 0.61, 0.2, 0.06),),
)
VARIANTS = (
    rule_set((OLDER, FEMALE), 0.24, 0.83, leader=0),
    rule_set((Condition("age", low=55.0), FEMALE), 0.23, 0.82, leader=0),
)
ELDERS = rule_set((OLD,), 0.25, 0.83, support=0.31, rows=62)
DOUBTED = rule_set((YOUNG, MALE), 0.9, 0.6, holds_on_data=False, data_in=0.6, data_out=0.61, p=0.03)
#: As a run tells them: variants stand among the others, by their scores.
FIGURES = (MINED, WORST, *VARIANTS, ELDERS, DOUBTED)

GAP = GroupGap(("sex",), 9_000, 0.071, 0.06, 0.082, 0.99, (1.0,), (0.0,), 0.312, 0.241)
LINEAR = LinearGroup(
    ("age", "sex = female", "sex = male"),
    (-0.8, 0.4, -0.1),
    -0.2,
    "yes",
    *(0.18, 60, 0.3, 0.7, 0.4, 0.07, -0.61, -0.12),
)
FLIP = Flip(
    1,
    "A <b>gay</b> man & his dog",
    "A <b>straight</b> man & his dog",
    "straight",
    0.41,
    0.72,
    "toxic",
    "fine",
)
TERMS = (
    TermRate("gender", "gay", 12, 300, 0.62, 40, 9, (FLIP,)),
    TermRate("gender", "straight", 3, 300, 0.91, 40, 2),
    TermRate("age", "old", 30, 280, 0.88, 30, 0),
)
