"""An error in what makes certificates is no error of what proves them again."""

from dataclasses import replace

import numpy as np
import pytest

from fairdesk.certify.domain import columns
from fairdesk.certify.domain.space import space_of
from fairdesk.certify.proof import certificate_reading
from fairdesk.certify.proof.reproof import reprover
from fairdesk.certify.proof.verify import provers, verify
from fairdesk.errors import SpecError
from fairdesk.models import structure
from tests import phrases
from tests.certify import networks
from tests.certify.proof.test_supported_again import certified


@pytest.fixture(params=["combinations", "axes"])
def planted(request, monkeypatch):
    """Let whoever asks what makes certificates for a model's numbers get others."""
    of_variant, of_axis = columns._of_variant, columns._of_axis

    def first_combination(*args):
        numbers = of_variant(*args)
        return numbers[:1].repeat(len(numbers), axis=0)

    def first_value(*args):
        own = of_axis(*args)
        return replace(own, table=own.table[:1].repeat(len(own.table), axis=0))

    if request.param == "combinations":
        monkeypatch.setattr(columns, "_of_variant", first_combination)
    else:
        monkeypatch.setattr(columns, "_of_axis", first_value)
    # what makes certificates tries its tables itself, and would see that
    monkeypatch.setattr(columns, "_check", lambda *args, **more: None)


def small():
    """Make a network of two layers that looks at the protected attribute."""
    attributes = [
        networks.names("job", 5),
        networks.names("town", 9),
        networks.names("school", 7),
        networks.number("sex", 2, role=networks.Role.PROTECTED),
    ]
    return networks.small(attributes, [6], np.random.default_rng(3), spread=1.0)


def failed(made, header, arrays):
    certificate_reading.check(header, arrays)
    checks = verify.verify(
        header,
        arrays,
        made.fed.predict,
        prove=provers.reproving(header, arrays, made.fed),
        sample=0,
        seconds=0.0,
        everything=True,
        rng=np.random.default_rng(1),
    )
    return {each.name for each in checks if each.failed}


def test_an_error_planted_in_the_encoding_is_found(planted):
    made = small()
    header, arrays = certified(made)
    assert phrases.PROVEN_AGAIN in failed(made, header, arrays)


def test_a_certificate_without_it_holds():
    made = small()
    header, arrays = certified(made)
    assert int(header.falsified) > 0
    assert phrases.PROVEN_AGAIN not in failed(made, header, arrays)


def test_layers_read_wrongly_are_refused(monkeypatch):
    case = small()
    space = space_of(case.domain, case.people)
    anatomy = structure.structure_of(case.fed.opened)
    *before, last = anatomy.body.layers
    turned = replace(last, weights=-last.weights, bias=-last.bias)
    wrong = replace(anatomy, body=replace(anatomy.body, layers=(*before, turned)))
    monkeypatch.setattr(type(case.fed.opened), "structure", lambda opened: wrong)
    with pytest.raises(SpecError, match="gives other decisions than the model"):
        reprover(space, case.fed, space.rows, lambda places: np.zeros(len(places), np.bool_))
