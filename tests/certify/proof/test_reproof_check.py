"""One box of a certificate is changed, and all totals with it: every such box is found."""

import math

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from fairdesk.certify import certify
from fairdesk.certify.certify import CertifyOptions
from fairdesk.certify.proof import certificate, certificate_reading, reproof_check
from fairdesk.certify.proof.certificate import (
    CONSISTENT,
    COUNTED,
    DISCRIMINATORY,
    UNDECIDED,
    leaves,
)
from fairdesk.certify.proof.verify import provers, verify
from fairdesk.errors import SpecError
from fairdesk.individual.engine.context import SearchContext
from fairdesk.results.events import Certificate
from tests import phrases
from tests.certify import networks
from tests.certify.proof.test_verify import changed, leaf, summed
from tests.certify.scikits import ATTRIBUTES, behind_one_hot, domain_of, fed, people, whole

WIDE = (whole("age", 900.0), ATTRIBUTES[1], whole("hours", 700.0), *ATTRIBUTES[3:])
AGAIN = phrases.PROVEN_AGAIN
FALSIFIED = "Every falsified region, queried"


def network():
    attributes = [
        networks.number("debts", 100),
        networks.names("job", 5),
        networks.number("years", 100),
        networks.number("wage", 50),
        networks.number("sex", 2, role=networks.Role.PROTECTED),
    ]
    case = networks.small(attributes, [6, 5], np.random.default_rng(3), spread=0.2)
    return case.fed, case.domain, case.people


def forest():
    frame, label = people(np.random.default_rng(4))
    model = behind_one_hot(RandomForestClassifier(5, max_depth=5, random_state=1))
    return fed(model.fit(frame, label), WIDE), domain_of(WIDE), np.zeros((1, 5))


def linear():
    frame, label = people(np.random.default_rng(5))
    model = behind_one_hot(LogisticRegression(max_iter=500)).fit(frame, label)
    return fed(model, WIDE), domain_of(WIDE), np.zeros((1, 5))


@pytest.fixture(scope="module", params=[network, forest, linear], ids=lambda each: each.__name__)
def proof(request):
    """Prove as much of a model as there is; gives the model, the header and the arrays."""
    model, domain, rows = request.param()
    events = certify.search(
        SearchContext(model, domain), rows, CertifyOptions(seconds=2.0), np.random.default_rng(0)
    )
    (event,) = (each for each in events if isinstance(each, Certificate))
    arrays = {name: np.asarray(array) for name, array in event.arrays.items()}
    return model, certificate.decoded(event.header), arrays


def checked(model, header, arrays, **more):
    """Check a certificate with the new checks only; gives those that are told by name."""
    certificate_reading.check(header, arrays)
    more = {"sample": 0, "seconds": 0.0, "everything": True} | more
    found = verify.verify(
        header,
        arrays,
        model.predict,
        prove=provers.reproving(header, arrays, model),
        rng=np.random.default_rng(1),
        **more,
    )
    return {each.name: each for each in found}


def test_an_honest_certificate_is_proven_again(proof):
    model, header, arrays = proof
    checks = checked(model, header, arrays)
    assert not any(each.failed for each in checks.values())
    again = checks[AGAIN]
    assert again.tried > 0
    said = again.remarks[0]
    assert said.startswith("Re-proved: ")
    assert "of the certified share" in said
    # of a linear model a grid tells all but a little
    assert again.unknown == 0 or "99.9" in said


def forgeries(arrays):
    """Change one box: the largest and the smallest of each kind, and some between."""
    sizes = {}
    for part in leaves(arrays):
        for node, low, high in zip(part.nodes, part.low, part.high, strict=True):
            sizes[int(node)] = math.prod((high - low + 1).tolist())
    for verdict, other in ((CONSISTENT, DISCRIMINATORY), (DISCRIMINATORY, CONSISTENT)):
        own = sorted((n for n in sizes if arrays["verdict"][n] == verdict), key=sizes.get)
        for node in {*own[:1], *own[-1:], *own[len(own) // 2 :][:1]}:
            yield changed(arrays, "verdict", node, other)
    own = sorted((n for n in sizes if arrays["verdict"][n] == COUNTED), key=sizes.get)
    for node in {*own[:1], *own[-1:]}:
        hits = round(sizes[node] * float(arrays["discriminatory"][node]))
        if sizes[node] <= 4_096:
            # by one person only
            told = (hits + 1 if hits < sizes[node] else hits - 1) / sizes[node]
            forged = changed(arrays, "discriminatory", node, told)
            yield changed(forged, "consistent", node, 1 - told)
    own = [n for n in sizes if arrays["verdict"][n] in (COUNTED, UNDECIDED) and sizes[n] > 4_096]
    for node in sorted(own, key=sizes.get)[-1:]:
        told = max(float(arrays["discriminatory"][node]) - 0.001, 0.0)
        if told < float(arrays["discriminatory"][node]):
            forged = changed(arrays, "discriminatory", node, told)
            yield changed(forged, "consistent", node, 1 - told)


def test_every_changed_box_is_found(proof):
    model, header, arrays = proof
    tried = 0
    for forged in forgeries(arrays):
        stated = summed(header, forged)
        found = checked(model, stated, forged)
        wrong = {name for name, each in found.items() if each.failed}
        assert AGAIN in wrong, np.flatnonzero(forged["verdict"] != arrays["verdict"])
        # the masses are not forged with the totals
        assert wrong <= {AGAIN, FALSIFIED, phrases.MASSES_FOLLOW}
        assert found[AGAIN].failed == 1
        # and nothing of it is told to be proven
        again = found[AGAIN].tried - found[AGAIN].unknown - 1
        (said,) = (each for each in found[AGAIN].remarks if each.startswith("Re-proved: "))
        assert f"({again:,} of {found[AGAIN].tried:,} regions)" in said
        assert "100 %" not in said
        tried += 1
    assert tried >= 1


def test_a_falsified_box_is_always_asked_about(proof):
    model, header, arrays = proof
    own = np.flatnonzero(arrays["verdict"] == CONSISTENT)
    for node in own[:5].tolist():
        forged = changed(arrays, "verdict", node, DISCRIMINATORY)
        found = checked(model, summed(header, forged), forged, everything=False, sample=100)
        assert found[FALSIFIED].failed == 1
        # no time was left to re-prove any region
        assert (found[AGAIN].tried - found[AGAIN].unknown, found[AGAIN].failed) == (0, 0)


def test_what_there_is_no_time_for_is_told_and_contradicts_nothing(proof, monkeypatch):
    model, header, arrays = proof
    monkeypatch.setattr(reproof_check, "_AT_ONCE", 2)
    again = checked(model, header, arrays, everything=False, seconds=1e-9)[AGAIN]
    assert not again.failed
    assert again.unknown == again.tried
    assert again.remarks[0].startswith("Re-proved: 0 % of the certified share")
    assert "(0 of " in again.remarks[0]
    assert "verified by sums and samples only" in again.remarks[1]
    if "Any fully decided region" in again.remarks[2]:
        assert again.remarks[2].endswith("at least 0 %.")


def test_a_model_that_cannot_be_looked_into_is_told(proof):
    model, header, arrays = proof

    def prove(*_, of="points"):
        raise SpecError("It cannot be looked into.")

    found = verify.verify(
        header,
        arrays,
        model.predict,
        prove=prove,
        sample=0,
        seconds=9.0,
        rng=np.random.default_rng(0),
    )
    (again,) = (each for each in found if each.name == AGAIN)
    assert (again.failed, again.unknown) == (0, again.tried)
    assert again.remarks == ("It cannot be looked into.",)


def test_constraints_leave_who_may_be_to_the_model(proof):
    """Where it is not known who may be, only what is asked point by point is proven."""
    model, header, arrays = proof
    prove = provers.reproving(header, arrays, model)
    node = leaf(arrays, CONSISTENT) if CONSISTENT in arrays["verdict"] else leaf(arrays, COUNTED)
    part = next(each for each in leaves(arrays) if node in each.nodes)
    at = int(np.flatnonzero(part.nodes == node)[0])
    low = part.low[at : at + 1]
    stated = np.array([[1.0, 0.0]])
    blind = prove(low, low, np.array([-1]), stated, 5.0)
    known = prove(low, low, np.array([0]), stated, 5.0)
    assert blind.consistent.tolist() == known.consistent.tolist()
    assert blind.contradicted.tolist() == known.contradicted.tolist()
