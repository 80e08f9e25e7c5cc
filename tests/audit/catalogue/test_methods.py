import msgspec
import pytest

from fairdesk.audit.catalogue.methods import METHODS, method_named, parse_options
from fairdesk.audit.catalogue.options import options_of
from fairdesk.errors import SpecError


def test_every_method_tells_what_it_is():
    for key, method in METHODS.items():
        assert method.key == key
        assert all((method.title, method.sentence, method.paper, method.cannot))
        for option in options_of(method.options):
            assert all((option.title, option.help, option.takes))


@pytest.mark.parametrize("key", METHODS)
def test_a_form_offers_what_the_check_takes(key):
    for option in options_of(METHODS[key].options):
        for value in (option.default, *(option.choices or (option.low, option.high))):
            assert option.read(str(value)) == value
            assert parse_options(key, {option.name: value})
        step = 1 if option.whole else 0.0011
        for limit, beyond in ((option.low, -step), (option.high, step)):
            if not option.choices and abs(limit) < 2**31 - 1:
                with pytest.raises(SpecError, match=option.takes):
                    parse_options(key, {option.name: limit + beyond})


def test_the_papers_parameters_and_defaults():
    assert msgspec.structs.asdict(parse_options("maft", {})) == {
        "global_num": 1000,
        "local_num": 1000,
        "cluster_num": 4,
        "max_iter": 10,
        "decay": 0.5,
        "update_interval": 5,
        "global_step": 1.0,
        "local_step": 1.0,
        "perturbation_size": 1.0,
    }


def test_texts_and_numbers_are_taken():
    options = parse_options("maft", {"global_num": "7", "decay": "0.25", "local_step": 2})
    assert (options.global_num, options.decay, options.local_step) == (7, 0.25, 2.0)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("global_num", "0", "a whole number from 1 to 1,000,000"),
        ("global_num", "many", "a whole number"),
        ("global_num", "1.5", "a whole number"),
        ("decay", "1", "a number from 0, below 1"),
        ("decay", "nan", "a number"),
        ("global_step", "0", "a number above 0, at most 1,000"),
        ("global_step", "inf", "a number"),
        ("global_step", "", "a number"),
    ],
)
def test_values_that_do_not_fit_are_told(name, value, words):
    with pytest.raises(SpecError, match=f"“{name}” cannot be “{value}”") as caught:
        parse_options("maft", {name: value})
    assert words in caught.value.remedy


def test_unknown_names_are_told_with_the_known_ones():
    with pytest.raises(SpecError, match="no option “speed”") as caught:
        parse_options("maft", {"speed": 1})
    assert "perturbation_size" in str(caught.value)
    with pytest.raises(SpecError, match="no method “magic”") as caught:
        method_named("magic")
    assert "methods are: quick, maft, " in str(caught.value)
