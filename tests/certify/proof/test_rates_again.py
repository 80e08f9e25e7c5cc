"""Regions of rates, proven once more: the ends hold the truth, and no forgery passes."""

from __future__ import annotations

import io
import zipfile
from fractions import Fraction
from functools import cache
from unittest.mock import patch

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdesk.certify import rates as proving
from fairdesk.certify.bounds import rates as bounds
from fairdesk.certify.certify import search
from fairdesk.certify.layout import lay_out_queried
from fairdesk.certify.options import CertifyOptions
from fairdesk.certify.proof import certificate, certificate_reading, reproof_rates
from fairdesk.certify.proof.certificate import RATE_ARRAYS, CertificateError, Points, decoded
from fairdesk.certify.proof.verify import provers
from fairdesk.certify.proof.verify.population import People
from fairdesk.certify.proof.verify.rates import RateRegions, rate_checks, rate_regions
from fairdesk.certify.rates import impact_ratio
from fairdesk.results.events import Certificate
from fairdesk.results.proofs import GroupRate
from tests import phrases
from tests.certify.networks import Small, wide
from tests.certify.populations import SEEDS, rows_of
from tests.certify.proof.test_people_again import everybody
from tests.certify.test_people import RULES, case_of, queried, tried
from tests.certify.test_rates import laid_out, truth
from tests.sizes import many


def certified(case: Small, *, few: float = 4.0, little: float = 0.02):
    """Certify a case until so little of its rates is open: its header and its arrays.

    Only boxes of so few points are counted.
    """
    options = CertifyOptions(seconds=0)
    with patch.object(bounds, "_FEW", few), patch.object(proving, "_LITTLE", little):
        events = search(case.context, case.people, options, np.random.default_rng(0))
        (made,) = (each for each in events if isinstance(each, Certificate))
    return decoded(made.header), made.arrays


@cache
def fifth():
    """Return a case with its header and arrays: certified once, and changed by no test."""
    case = case_of(5)
    return case, *certified(case)


def peopled(seed: int) -> Small:
    """A wider network, with data."""
    case = wide(seed)
    return Small(case.fed, case.domain, rows_of(case.domain, np.random.default_rng(seed), 60))


def again(case: Small, header, arrays, *, small: int = 2):
    """Prove the regions of rates once more: what came of it, and the ends that are proven."""
    prove, kept = provers.reproving(header, arrays, case.fed), []

    def noted(*asked, **more):
        found = prove(*asked, **more)
        kept.append((asked, found))
        return found

    regions = RateRegions(header, arrays)
    with patch.object(reproof_rates, "SMALL", small):
        came = regions.proven_again(noted, seconds=60.0, everything=False)
    which = regions.leaves
    proven = np.zeros_like(which.stated)
    for asked, found in kept:
        for b in range(len(asked[0])):
            same = (which.low == asked[0][b]).all(axis=1) & (which.high == asked[1][b]).all(axis=1)
            same &= which.combination == asked[2][b]
            proven[same] = found.consistent[b], found.discriminatory[b]
    return came, regions.ends(which, proven)


def held(true: dict[tuple[str, float], Fraction], ends) -> float:
    """Check that ends hold the truth; return the widest distance."""
    for key, (low, high) in ends.items():
        assert low <= float(true[key]) + 1e-9
        assert high >= float(true[key]) - 1e-9
    return max(high - low for low, high in ends.values())


@settings(max_examples=many(12))
@given(SEEDS, RULES, st.booleans(), st.sampled_from([0.3, 0.02]))
def test_rates_that_are_proven_again_hold_the_truth(seed, rules, wider, little) -> None:
    case = peopled(seed) if wider else case_of(seed, rules)
    header, arrays = certified(case, little=little)
    if not header.rates:
        return
    true = truth(case, laid_out(case))
    stated = {
        (rates.attribute, each.code): (each.low, each.high)
        for rates in header.rates
        for each in rates.groups
    }
    held(true, stated)
    rng = np.random.default_rng(0)
    checks = list(rate_checks(rate_regions(header, arrays), case.fed.predict, sample=200, rng=rng))
    assert [each.name for each in checks if each.failed] == []
    came, ends = again(case, header, arrays)
    assert came.name == phrases.RATES_PROVEN_AGAIN
    assert not came.failed, came.remarks
    held(true, ends)


@pytest.mark.parametrize("seed", range(2))
def test_rates_of_every_kind_of_model_are_proven_again(seed: int) -> None:
    for kind, case in tried(seed):
        header, arrays = certified(case)
        came, ends = again(case, header, arrays)
        assert not came.failed, (kind, came.remarks)
        stated = max(each.high - each.low for rates in header.rates for each in rates.groups)
        # the grid of the check is coarser than what a linear form was counted with
        assert held(truth(case, laid_out(case)), ends) < stated + 0.1, kind


@settings(max_examples=many(12))
@given(SEEDS)
def test_never_more_is_proven_of_a_region_than_is_true(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _, case in [*tried(seed % 1_000), ("wide", peopled(seed))]:
        header, arrays = certified(case)
        prove, people = provers.reproving(header, arrays, case.fed), People(header)
        points = Points(header, case.fed.predict)
        first, last = (arrays[each][:1].astype(np.int64) for each in ("root_low", "root_high"))
        ends = rng.integers(first, last, (2, *first.shape), endpoint=True)
        v = int(rng.integers(len(header.domain.combinations)))
        low, high = np.concatenate([first, ends.min(0)]), np.concatenate([last, ends.max(0)])
        with patch.object(reproof_rates, "SMALL", int(rng.choice([1, 8]))):
            told = prove(low, high, np.full(2, v), np.zeros((2, 2)), 60.0, of="rates")
        for b in range(2):
            places = everybody(low[b], high[b])
            masses = people.with_values(v).masses(places, places)
            if masses.sum() > 0:
                good = float(masses[points.is_favourable(places, v)].sum() / masses.sum())
                assert told.consistent[b] <= good + 1e-9
                assert told.discriminatory[b] <= 1.0 - good + 1e-9


def test_rates_of_a_model_that_can_only_be_queried_are_proven_again() -> None:
    case, events = queried(0)
    (made,) = (each for each in events if isinstance(each, Certificate))
    header, arrays = decoded(made.header), made.arrays
    layout = lay_out_queried(case.domain, case.people, case.fed)
    assert layout is not None
    came, ends = again(case, header, arrays, small=4_096)
    assert not came.failed
    assert not came.unknown
    assert came.tried > 0
    assert held(truth(case, layout), ends) < 0.01


def forged(header, arrays, leaf: int, shares: tuple[float, float]):
    """State other shares of a leaf, and the rates that follow from them."""
    other = arrays | {name: arrays[name].copy() for name in ("rate_favourable", "rate_other")}
    other["rate_favourable"][leaf], other["rate_other"][leaf] = shares
    return with_ends(header, other), other


def with_ends(header, arrays):
    """Return a header whose rates follow from its regions."""
    regions = RateRegions(header, arrays)
    which = regions.leaves
    ends = regions.ends(which, which.stated)
    told = []
    for rates in header.rates:
        groups = [
            GroupRate(each.code, *ends[rates.attribute, each.code], each.share)
            for each in rates.groups
        ]
        low, high = impact_ratio(groups)
        told.append(
            msgspec.structs.replace(rates, groups=tuple(groups), ratio_low=low, ratio_high=high)
        )
    return msgspec.structs.replace(header, rates=tuple(told))


def refuted(case: Small, header, arrays) -> set[str]:
    """Check rates, but for the draws: what fails."""
    rng = np.random.default_rng(1)
    found = list(rate_checks(rate_regions(header, arrays), case.fed.predict, sample=0, rng=rng))
    return {each.name for each in [*found, again(case, header, arrays)[0]] if each.failed}


def test_a_forged_region_of_rates_is_caught() -> None:
    caught = 0
    for _, case in tried(0):
        header, arrays = certified(case)
        assert refuted(case, with_ends(header, arrays), arrays) == set()
        which = RateRegions(header, arrays).leaves
        heaviest = np.argsort(-which.mass)[:3]
        for i in heaviest.tolist():
            favourable, other = which.stated[i].tolist()
            for shares in ((1.0 - 0.5 * other, 0.0), (0.0, 1.0 - 0.5 * favourable)):
                # what is true all the same is no forgery
                if (shares[0] and other > 0.02) or (shares[1] and favourable > 0.02):
                    own = forged(header, arrays, int(which.nodes[i]), shares)
                    assert refuted(case, *own) == {phrases.RATES_PROVEN_AGAIN}
                    caught += 1
    assert caught > 3


def test_ends_that_do_not_follow_from_regions_are_caught() -> None:
    case, header, arrays = fifth()
    (rates, *others) = header.rates

    def told(**changes):
        own = msgspec.structs.replace(rates, **changes)
        return msgspec.structs.replace(header, rates=(own, *others))

    narrower = tuple(
        msgspec.structs.replace(each, low=each.low + 1e-3, high=max(each.high, each.low + 1e-3))
        for each in rates.groups
    )
    for forgery in (
        told(groups=narrower),
        told(groups=rates.groups[1:]),
        told(ratio_low=rates.ratio_low + 0.01),
        told(ratio_high=rates.ratio_high - 0.01),
    ):
        assert phrases.RATES_FOLLOW in refuted(case, forgery, arrays)


def test_a_certificate_without_regions_of_rates_is_still_read_and_verified() -> None:
    case, header, arrays = fifth()
    older = {name: array for name, array in arrays.items() if name not in RATE_ARRAYS}
    file = io.BytesIO()
    certificate.write(file, certificate.encoded(header), older)
    read, found = certificate_reading.read(file)
    assert read == header
    assert set(found) == set(older)
    assert refuted(case, header, older) == set()
    rng = np.random.default_rng(0)
    (check,) = rate_checks(rate_regions(header, older), case.fed.predict, sample=0, rng=rng)
    assert "earlier version" in check.remarks[0]


def test_regions_of_rates_come_back_as_they_were() -> None:
    _, header, arrays = fifth()
    file = io.BytesIO()
    certificate.write(file, certificate.encoded(header), arrays)
    read, found = certificate_reading.read(file)
    assert read == header
    for name in RATE_ARRAYS:
        np.testing.assert_array_equal(found[name], arrays[name])
    assert len(found["rate_first"]) > len(read.domain.combinations)


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("rate_first", 0, 0),
        ("rate_first", 0, 10**6),
        ("rate_axis", 0, 99),
        ("rate_favourable", -1, 1.5),
        ("rate_other", -1, np.nan),
        ("rate_other", slice(-2, None), 1.0 + 1e-6),
    ],
)
def test_regions_of_rates_that_cannot_be_are_refused(name, place, value) -> None:
    _, header, arrays = fifth()
    bent = arrays | {name: arrays[name].copy()}
    bent[name][place] = value
    with pytest.raises(CertificateError):
        certificate_reading.check(header, bent)


def test_a_group_without_a_rate_is_missed() -> None:
    """Whoever leaves a group out has a ratio that follows from the others."""
    case, header, arrays = fifth()
    for place in range(len(header.rates[0].groups)):
        groups = [each for i, each in enumerate(header.rates[0].groups) if i != place]
        low, high = impact_ratio(groups)
        own = msgspec.structs.replace(
            header.rates[0], groups=tuple(groups), ratio_low=low, ratio_high=high
        )
        forgery = msgspec.structs.replace(header, rates=(own, *header.rates[1:]))
        assert refuted(case, forgery, arrays) == {phrases.RATES_FOLLOW}


@pytest.mark.parametrize("changes", [{"attribute": "x"}, {"groups": ()}, {"code": 77.0}])
def test_rates_of_groups_that_are_not_there_are_refused(changes) -> None:
    _, header, arrays = fifth()
    rates = header.rates[0]
    if "code" in changes:
        changes = {"groups": (msgspec.structs.replace(rates.groups[0], **changes),)}
    own = msgspec.structs.replace(rates, **changes)
    forgery = msgspec.structs.replace(header, rates=(own, *header.rates[1:]))
    with pytest.raises(CertificateError):
        certificate_reading.check(forgery, arrays)


def test_a_part_of_the_arrays_of_rates_is_refused() -> None:
    _, header, arrays = fifth()
    some = {name: array for name, array in arrays.items() if name != "rate_other"}
    with pytest.raises(CertificateError):
        certificate_reading.check(header, some)
    file = io.BytesIO()
    certificate.write(file, certificate.encoded(header), some)
    assert "rate_cut.npy" in zipfile.ZipFile(file).namelist()
    with pytest.raises(CertificateError):
        certificate_reading.read(file)


def test_a_cut_outside_of_its_region_of_rates_is_refused() -> None:
    _, header, arrays = fifth()
    inner = np.flatnonzero(arrays["rate_first"] >= 0)
    assert inner.size
    bent = arrays | {"rate_cut": arrays["rate_cut"].copy()}
    bent["rate_cut"][inner[0]] = 10**6
    with pytest.raises(CertificateError):
        len(RateRegions(header, bent).leaves.nodes)
