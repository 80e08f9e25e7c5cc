"""Certificates where attributes change with a protected one are checked by other code."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdesk.certify.certify import CertifyOptions, search
from fairdesk.certify.proof import certificate_reading
from fairdesk.certify.proof.certificate import CONSISTENT, CertificateError, decoded
from fairdesk.certify.proof.verify import provers, verify
from fairdesk.data.domain.attributes import Role
from fairdesk.data.domain.domain import Domain
from fairdesk.data.domain.support import Support
from fairdesk.models.structure import Activation
from fairdesk.results.events import Certificate
from tests import phrases
from tests.certify.networks import Small, fed_with, layer, names, number
from tests.certify.supports import companion, supported
from tests.sizes import many

HUSBANDS = companion("kin", "sex", ((1, 0, 3), (0, 3, 0)))


def certified(made, seconds=0.0):
    options = CertifyOptions(seconds)
    events = search(made.context, made.people, options, np.random.default_rng(0))
    (event,) = [each for each in events if isinstance(each, Certificate)]
    return decoded(event.header), event.arrays


def checked(made, header, arrays):
    certificate_reading.check(header, arrays)
    checks = verify.verify(
        header,
        arrays,
        made.fed.predict,
        provers.reproving(header, arrays, made.fed),
        sample=500,
        seconds=2.0,
        everything=True,
        rng=np.random.default_rng(0),
        people=made.domain.admit(made.people)[0],
    )
    return {each.name: each for each in checks}


@given(
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from(["network", "linear", "forest"]),
    early=st.booleans(),
)
@settings(max_examples=many(20))
def test_a_true_certificate_holds(seed, kind, early):
    made = supported(seed, kind)
    header, arrays = certified(made, 0.05 if early else 0.0)
    for each in checked(made, header, arrays).values():
        assert not each.failed, each
    if not early:
        assert header.undecided == "0"


def spouses(protected=0.0):
    """Make a model that looks at whether one is a husband, and perhaps at the sex."""
    attributes = (number("age", 6), names("kin", 4), names("sex", 2, Role.PROTECTED))
    weights = [[0.3], [6.0], [0.0], [0.0], [-6.0], [protected], [-protected]]
    fed = fed_with(attributes, [layer(weights, [0.1], Activation("sigmoid"))])
    rows = np.array([[age, kin, sex] for age in range(6) for kin in (0, 1, 2, 3) for sex in (0, 1)])
    support = Support(companions=(HUSBANDS,))
    return Small(fed, Domain(attributes, support=support), rows.astype(float))


def test_what_ignores_companions_is_refused():
    made = spouses()
    header, arrays = certified(made)
    assert int(header.falsified) == 6
    # as if nobody's decision changed where the sex alone is changed
    forged = dict(arrays) | {"verdict": np.where(arrays["verdict"] > 0, CONSISTENT, -1)}
    forged["verdict"] = forged["verdict"].astype(arrays["verdict"].dtype)
    stated = msgspec.structs.replace(
        header, certified=header.total, falsified="0", certified_share=1.0, falsified_share=0.0
    )
    failed = {name for name, each in checked(made, stated, forged).items() if each.failed}
    assert phrases.PROVEN_AGAIN in failed
    assert phrases.PEOPLE_IN_CERTIFIED in failed


def test_axes_of_all_values_are_refused():
    made = spouses()
    alone = made._replace(domain=Domain(made.domain.attributes))
    header, arrays = certified(alone)
    assert header.falsified == "0"
    # each husband compared with a female husband, and said to be compared with wives
    stated = msgspec.structs.replace(header, domain=made.domain)
    with pytest.raises(CertificateError, match="its roots mix"):
        checked(made, stated, arrays)


def test_an_axis_with_another_code_of_a_kind_is_refused():
    made = spouses()
    header, arrays = certified(made)
    kin = next(i for i, each in enumerate(header.axes) if each.attribute == "kin")
    codes = tuple(3.0 if code == 0.0 else code for code in header.axes[kin].codes)
    axes = list(header.axes)
    axes[kin] = msgspec.structs.replace(axes[kin], codes=codes)
    stated = msgspec.structs.replace(header, axes=tuple(axes))
    checks = checked(made, stated, arrays)
    assert checks[phrases.ROOTS_COVER].failed


def test_roots_that_mix_what_is_tied_are_refused():
    made = spouses()
    header, arrays = certified(made)
    with pytest.raises(CertificateError, match="its roots mix"):
        checked(made, msgspec.structs.replace(header, groups=(0,) * len(header.groups)), arrays)


def test_a_certificate_of_nothing_that_is_compared_holds():
    made = spouses()
    support = Support(companions=(HUSBANDS,), rare=(("sex", 1.0),))
    made = made._replace(domain=Domain(made.domain.attributes, support=support))
    header, arrays = certified(made)
    assert (header.total, header.certified) == ("0", "0")
    for each in checked(made, header, arrays).values():
        assert not each.failed, each
