"""A true certificate holds, and a forged one does not, whatever was forged."""

import msgspec
import numpy as np
import pytest

from fairdesk.certify.domain.encoded import encode
from fairdesk.certify.domain.space import space_of
from fairdesk.certify.proof import certificate, certificate_reading
from fairdesk.certify.proof.certificate import (
    CONSISTENT,
    COUNTED,
    DISCRIMINATORY,
    NOBODY,
    UNDECIDED,
    leaves,
)
from fairdesk.certify.proof.verify import contents, statements, verify
from fairdesk.models.structure import structure_of
from tests import phrases
from tests.certify import networks
from tests.certify.proofs import (
    LESS,
    Options,
    decide,
    discriminatory,
    divide,
    domain,
    everybody,
    honest,
    read,
)

RULES = ("job = pilot implies debts <= 4", "sex = m or income >= 20", "income != 33")


@pytest.fixture(scope="module")
def event():
    return honest()


@pytest.fixture(scope="module")
def ruled():
    return honest(domain(*RULES))


def checked(header, arrays, predict=decide, *, sample=2_000, **more):
    """Return the checks by their names."""
    more = {"seconds": 0.0, "rng": np.random.default_rng(0)} | more
    certificate_reading.check(header, arrays)
    checks = verify.verify(header, arrays, predict, sample=sample, **more)
    return {each.name: each for each in checks}


def failing(*args, **more):
    return {name for name, each in checked(*args, **more).items() if each.failed}


def changed(arrays, name, place, value):
    arrays = arrays | {name: np.array(arrays[name])}
    arrays[name][place] = value
    return arrays


def leaf(arrays, verdict, nth=0):
    return int(np.flatnonzero(arrays["verdict"] == verdict)[nth])


def summed(header, arrays):
    """Let a header state what its leaves say, as an able forger would."""
    proven = {"consistent": 0, "discriminatory": 0}
    total = 0
    for part in leaves(arrays):
        for node, low, high in zip(part.nodes, part.low, part.high, strict=True):
            verdict = arrays["verdict"][node]
            size = int(np.prod(high - low + 1))
            total += size if verdict != NOBODY else 0
            if verdict == COUNTED:
                hits = round(size * float(arrays["discriminatory"][node]))
                proven["discriminatory"] += hits
                proven["consistent"] += size - hits
            elif verdict == UNDECIDED:
                for kind in proven:
                    proven[kind] += int(size * float(arrays[kind][node]) * LESS)
            elif verdict != NOBODY:
                proven["consistent" if verdict == CONSISTENT else "discriminatory"] += size
    consistent, discriminatory = proven["consistent"], proven["discriminatory"]
    return msgspec.structs.replace(
        header,
        total=str(total),
        certified=str(consistent),
        falsified=str(discriminatory),
        undecided=str(total - consistent - discriminatory),
        certified_share=certificate.share_down(consistent, total),
        falsified_share=certificate.share_down(discriminatory, total),
        undecided_share=certificate.share_up(total - consistent - discriminatory, total),
    )


def test_a_true_certificate_holds(event):
    header, arrays = read(event)
    assert summed(header, arrays) == header
    checks = checked(header, arrays)
    assert not any(each.failed for each in checks.values())
    # and not because nothing was tried
    assert all(each.tried for each in checks.values())
    assert len(checks) == 10
    assert not set(arrays["verdict"].tolist()) - {
        -1,
        UNDECIDED,
        CONSISTENT,
        DISCRIMINATORY,
        COUNTED,
    }


def test_a_true_certificate_with_constraints_holds(ruled):
    header, arrays = read(ruled)
    assert len(header.groups) > 3
    assert NOBODY in arrays["verdict"]
    checks = checked(header, arrays)
    assert not any(each.failed for each in checks.values()), checks
    assert checks["Combinations permitted by the constraints"].tried >= 2_000


def test_it_comes_back_from_its_file_and_holds(ruled, tmp_path):
    path = tmp_path / "one.fairdesk-proof"
    certificate.write(path, ruled.header, ruled.arrays)
    assert not failing(*certificate_reading.read(path))


TOTALS = phrases.TOTALS_FOLLOW
SMALL = "Small regions with a count or a share, recounted"
SHARES = "Shares in undecided regions, compared with random samples"
CERTIFIED = phrases.PEOPLE_IN_CERTIFIED
FALSIFIED = phrases.PEOPLE_IN_FALSIFIED
ROOTS = phrases.ROOTS_COVER
BOXES = "The regions cover the whole domain exactly once"
MAY_BE = "Combinations permitted by the constraints"


@pytest.mark.parametrize(
    ("forged", "caught"),
    [
        ({"certified": "1"}, TOTALS),
        ({"falsified": "2"}, TOTALS),
        ({"undecided": "0"}, TOTALS),
        ({"total": "2041"}, TOTALS),
        ({"certified_share": 1.0}, TOTALS),
        ({"falsified_share": 0.0}, TOTALS),
        ({"undecided_share": 0.0}, TOTALS),
    ],
)
def test_changed_totals_are_caught(event, forged, caught):
    header, arrays = read(event)
    assert caught in failing(msgspec.structs.replace(header, **forged), arrays)


@pytest.mark.parametrize(
    "forged",
    [
        {"notes": ("Approved by the Data Protection Authority.",)},
        {"notes": (statements.UNCLEAR,)},
        {"notes": (statements.NOTHING,)},
        {"notes": (statements.unused(["sex"]),)},
        {"method": "approved"},
        {"options": {"approved": "by the Data Protection Authority"}},
        {"options": {"first": "the Data Protection Authority"}},
        {"about_margin": "The Data Protection Authority approved it."},
    ],
)
def test_words_that_do_not_follow_from_the_proof_are_caught(event, forged):
    header, arrays = read(event)
    assert failing(msgspec.structs.replace(header, **forged), arrays) == {
        "Its notes, method and options are what FairDesk writes of such a proof"
    }


def test_words_that_follow_from_the_proof_hold(event):
    header, arrays = read(event)
    said = msgspec.structs.replace(header, notes=(statements.ROWS_LEFT, statements.QUERIED))
    assert failing(said, arrays) == set()


@pytest.mark.parametrize(
    ("before", "after", "caught"),
    [
        (DISCRIMINATORY, CONSISTENT, CERTIFIED),
        (CONSISTENT, DISCRIMINATORY, FALSIFIED),
        (UNDECIDED, CONSISTENT, CERTIFIED),
        (COUNTED, DISCRIMINATORY, FALSIFIED),
    ],
)
def test_a_changed_verdict_is_caught_by_its_totals_and_by_the_model(event, before, after, caught):
    header, arrays = read(event)
    forged = changed(arrays, "verdict", leaf(arrays, before), after)
    assert TOTALS in failing(header, forged)
    assert caught in failing(summed(header, forged), forged)


def is_true(header, arrays):
    """Tell of every leaf whether what it says is so, by asking everybody."""
    space = space_of(header.domain, np.empty((0, 4)))
    for part in leaves(arrays):
        for node, low, high in zip(part.nodes, part.low, part.high, strict=True):
            share = discriminatory(space, everybody(low, high)).mean()
            stated = {CONSISTENT: 0.0, DISCRIMINATORY: 1.0, COUNTED: arrays["discriminatory"][node]}
            verdict = int(arrays["verdict"][node])
            if verdict == UNDECIDED:
                least, most = arrays["discriminatory"][node], 1 - arrays["consistent"][node]
                if not least <= share <= most:
                    return False
            elif abs(share - stated[verdict]) > 1e-9:
                return False
    return True


def test_a_changed_cut_is_caught_unless_what_it_says_is_still_true(event):
    header, arrays = read(event)
    caught = 0
    inner = np.flatnonzero(arrays["first"] >= 0)
    for node in inner:
        forged = changed(arrays, "cut", node, arrays["cut"][node] + 1)
        try:
            wrong = bool(failing(header, forged, sample=5_000))
            assert wrong or is_true(header, forged)
            caught += wrong
        except certificate.CertificateError:
            caught += 1
    assert caught > 0.9 * len(inner)


def test_a_wrong_count_is_caught(event):
    header, arrays = read(event)
    forged = changed(arrays, "discriminatory", leaf(arrays, COUNTED), 0.0)
    forged = changed(forged, "consistent", leaf(arrays, COUNTED), 1.0)
    assert SMALL in failing(summed(header, forged), forged)


@pytest.mark.parametrize("what", ["consistent", "discriminatory"])
def test_shares_of_undecided_boxes_that_are_too_large_are_caught(event, what):
    header, arrays = read(event)
    other = {"consistent": "discriminatory", "discriminatory": "consistent"}[what]
    places = np.flatnonzero(arrays["verdict"] == UNDECIDED)
    forged = changed(changed(arrays, other, places, 0.0), what, places, 0.97)
    assert SHARES in failing(summed(header, forged), forged)


def test_another_model_is_caught(event):
    header, arrays = read(event)

    def other(rows):
        return decide(rows + np.array([0.0, 0.0, 3.0, 0.0]))

    assert {CERTIFIED, SMALL} <= failing(header, arrays, other)


def test_values_that_are_left_out_or_exchanged_are_caught(event):
    header, arrays = read(event)
    job, debts, income = header.axes
    fewer = msgspec.structs.replace(income, codes=income.codes[:-1], count=50)
    narrower = arrays | {"root_high": arrays["root_high"] - np.array([0, 0, 1])}
    forged = msgspec.structs.replace(header, axes=(job, debts, fewer))
    assert ROOTS in failing(summed(forged, narrower), narrower)
    exchanged = msgspec.structs.replace(income, codes=income.codes[::-1])
    forged = msgspec.structs.replace(header, axes=(job, debts, exchanged))
    assert CERTIFIED in failing(forged, arrays)
    other = msgspec.structs.replace(debts, codes=tuple(each + 0.5 for each in debts.codes))
    forged = msgspec.structs.replace(header, axes=(job, other, income))
    assert ROOTS in failing(forged, arrays)


def test_roots_that_share_points_or_leave_some_out_are_caught(event):
    header, arrays = read(event)
    low, high = arrays["root_low"], arrays["root_high"]
    for lows, highs in (
        ([[0, 0, 0], [2, 0, 0]], [[2, 9, 50], [3, 9, 50]]),
        ([[0, 0, 0], [3, 0, 0]], [[1, 9, 50], [3, 9, 50]]),
    ):
        whole = {
            "root_low": np.array(lows),
            "root_high": np.array(highs),
            "first": np.full(2, -1),
            "axis": np.full(2, -1),
            "cut": np.zeros(2, int),
            "verdict": np.zeros(2, int),
            "consistent": np.zeros(2),
            "discriminatory": np.zeros(2),
            "people_consistent": np.zeros(2),
            "people_discriminatory": np.zeros(2),
        }
        forged = msgspec.structs.replace(header, groups=(0, 0))
        assert failing(summed(forged, whole), whole, sample=0) == {ROOTS}
    assert low.shape == high.shape


@pytest.mark.parametrize("n", [300, 2_000])
def test_many_roots_are_told_apart(n):
    rng = np.random.default_rng(n)
    boxes = [(np.array([0, 0, 0]), np.array([99, 99, 99]))]
    while len(boxes) < n:
        low, high = boxes.pop(int(rng.integers(len(boxes))))
        axis = int((high - low).argmax())
        if high[axis] == low[axis]:
            boxes.append((low, high))
            continue
        cut = int(rng.integers(low[axis], high[axis]))
        upper, lower = high.copy(), low.copy()
        upper[axis], lower[axis] = cut, cut + 1
        boxes += [(low, upper), (lower, high)]
    low, high = (np.array(each) for each in zip(*boxes, strict=True))
    assert contents.disjoint(low, high)
    which = int(rng.integers(n))
    low[which], high[which] = low[which - 1], high[which - 1]
    assert not contents.disjoint(low, high)


def test_people_who_are_said_not_to_be_are_caught(ruled):
    header, arrays = read(ruled)
    # some of those who are treated unlike are nobody, it says
    group = {tuple(row): i for i, row in enumerate(header.may_be)}[True, True]
    nobody = len(header.may_be)
    roots = [i for i, each in enumerate(header.groups) if each == group]
    groups = list(header.groups)
    groups[roots[0]] = nobody
    forged = msgspec.structs.replace(
        header, groups=tuple(groups), may_be=(*header.may_be, (False, False))
    )
    arrays = changed(arrays, "first", roots[0], -1)
    unreached = pruned(arrays | {"verdict": without(arrays, roots[0])})
    assert BOXES in failing(header, unreached, sample=0)
    assert MAY_BE in failing(summed(forged, unreached), unreached)


def without(arrays, root):
    verdict = np.array(arrays["verdict"])
    verdict[root] = NOBODY
    return verdict


def pruned(arrays):
    """Leave out nodes that no root leads to."""
    roots = len(arrays["root_low"])
    kept, level = [], list(range(roots))
    while level:
        kept += level
        level = [
            int(arrays["first"][node]) + step
            for node in level
            if arrays["first"][node] >= 0
            for step in (0, 1)
        ]
    kept = sorted(kept)
    number = {node: i for i, node in enumerate(kept)}
    first = [number.get(int(arrays["first"][node]), -1) for node in kept]
    return {
        name: np.array(first) if name == "first" else array if name[:4] == "root" else array[kept]
        for name, array in arrays.items()
    }


def test_constraints_that_are_not_there_are_caught(event):
    header, arrays = read(event)
    forged = msgspec.structs.replace(header, may_be=((True, False),))
    assert MAY_BE in failing(forged, arrays)


def test_real_people_are_asked_about_too(event):
    header, arrays = read(event)
    rng = np.random.default_rng(5)
    people = header.domain.sample(rng, 400)
    found = checked(header, arrays, people=people)
    assert found[phrases.OWN_PEOPLE].tried > 100
    assert not any(each.failed for each in found.values())
    forged = changed(arrays, "verdict", leaf(arrays, DISCRIMINATORY), CONSISTENT)
    told = checked(header, forged, people=everyone(header))
    assert told[phrases.OWN_PEOPLE].failed


def everyone(header):
    space = space_of(header.domain, np.empty((0, 4)))
    return space.rows(everybody(space.low[0], space.high[0]))


def test_volumes_are_exact_whatever_their_size():
    low = np.zeros((2, 12), dtype=np.int64)
    high = np.full((2, 12), 999_999)
    high[1, 0] = 6
    assert contents.volumes_of(low, high) == [10**72, 7 * 10**66]


@pytest.fixture(scope="module")
def network():
    rng = np.random.default_rng(3)
    attributes = [
        networks.number("debts", 7),
        networks.names("job", 4),
        networks.number("sex", 2, role=networks.Role.PROTECTED),
    ]
    return networks.small(attributes, [6], rng)


def proof_of(case):
    """Make an honest certificate of a network, with names in the order of its proof."""
    space = encode(
        space_of(case.domain, case.people), structure_of(case.fed.opened), case.fed
    ).space
    arrays, proven = divide(space, case.fed.predict, small=0)
    event = certificate.pack(
        space,
        arrays,
        case.fed,
        phase="proving",
        method="certify",
        options=Options(),
        margin=1e-5,
        seconds=1.0,
        boxes=len(arrays["first"]),
        **proven,
    )
    return read(event)
