import subprocess
import sys
import tomllib
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from types import ModuleType
from typing import get_type_hints

import msgspec
import pytest

from fairdesk.audit.catalogue.implementations import IMPLEMENTATIONS, is_compiled, loops_of
from fairdesk.audit.catalogue.method import Divides
from fairdesk.audit.catalogue.methods import (
    METHODS,
    method_named,
    option_named,
    options_of,
    parse_options,
)
from fairdesk.errors import SpecError
from fairdesk.models.model import Capability

#: Lists all methods with their options, and then the modules that this has loaded.
LISTING = """
import sys
from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.catalogue.methods import option_named, options_of
for method in METHODS.values():
    assert options_of(method.options)
    print(method.title)
print(*sys.modules)
"""


def test_every_method_tells_what_it_is():
    for key, method in METHODS.items():
        assert method.key == key
        assert all((method.title, method.sentence, method.paper, method.cannot))
        for option in options_of(method.options):
            assert all((option.title, option.help.endswith("."), option.takes))


def test_words_are_of_a_method_or_an_option():
    """What stands in the files of words is of an entry: a misspelt key would say nothing."""
    words = {
        name: tomllib.loads(files("fairdesk.audit.catalogue").joinpath(name).read_text("utf-8"))
        for name in ("methods.toml", "options.toml")
    }
    assert words["methods.toml"].keys() - {"shared"} == METHODS.keys()
    structs = {each for method in METHODS.values() for each in method.options.__mro__}
    named: dict[str, set[str]] = {"any": set()}
    for struct in structs:
        if issubclass(struct, msgspec.Struct) and struct is not msgspec.Struct:
            assert struct.__name__ not in named, "two structs of options with one name"
            named[struct.__name__] = set(struct.__struct_fields__)
            named["any"] |= named[struct.__name__]
    for struct, options in words["options.toml"].items():
        assert options.keys() <= named[struct], struct


def test_every_method_says_how_it_is_divided_or_why_not():
    for method in METHODS.values():
        division = method.division
        assert division.why or division.by is not Divides.WHOLE, method.key
        assert division.sentence.endswith(f"{division.why}.")
        module = import_module(IMPLEMENTATIONS[method.key].module)
        assert division.counts == (hasattr(module, "counting") and hasattr(module, "merging"))


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


def test_listing_the_methods_loads_none_of_them():
    told = subprocess.run(
        (sys.executable, "-c", LISTING), capture_output=True, text=True, check=True, timeout=120
    )
    *titles, loaded = told.stdout.splitlines()
    assert titles == [method.title for method in METHODS.values()]
    loaded = set(loaded.split())
    theirs = {each.module for each in IMPLEMENTATIONS.values()}
    theirs |= {module for each in IMPLEMENTATIONS.values() for module in each.loops}
    assert not loaded & theirs
    assert not {name.partition(".")[0] for name in loaded} & {
        *("numba", "llvmlite", "scipy", "sklearn", "pandas", "pyarrow", "z3", "statsmodels"),
        *("onnx", "onnxruntime", "h5py", "keras", "tensorflow", "skops", "PySide6"),
    }


def test_every_method_is_implemented():
    assert IMPLEMENTATIONS.keys() == METHODS.keys()
    for key, method in METHODS.items():
        made = IMPLEMENTATIONS[key]
        search = getattr(import_module(made.module), made.function)
        # what walks alike is written once, for the most of options
        assert issubclass(method.options, get_type_hints(search)["options"]), key
        # to load them would compile them
        assert all(map(find_spec, loops_of(key, near=True))), key


def test_loops_are_compiled_when_each_of_them_was_kept(tmp_path, monkeypatch):
    for module in [name for name in sys.modules if name.endswith(("kernels", "filling"))]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.delitem(sys.modules, "fairdesk.models.dense.layers", raising=False)
    loops = loops_of("certify")
    assert set(IMPLEMENTATIONS["certify"].loops) < set(loops)
    for module in loops:
        assert not is_compiled(loops, tmp_path)
        package, _, name = module.rpartition(".")
        (tmp_path / package).mkdir(exist_ok=True)
        (tmp_path / package / f"{name}.loop-10.py311.nbi").touch()
    assert is_compiled(loops, tmp_path)
    # a method without loops of its own needs those that all share
    assert is_compiled(loops_of("uniform"), tmp_path)


@pytest.mark.parametrize("method", ["certify", "neighbourhoods"])
def test_a_proof_needs_the_loops_for_its_model_only(method):
    made = IMPLEMENTATIONS[method]
    of_trees = set(loops_of(method, can=(Capability.TREES,)))
    of_layers = set(loops_of(method, can=(Capability.LAYERS, Capability.SCORES)))
    assert {*made.loops, *made.trees} <= of_trees
    assert of_trees.isdisjoint(made.layers)
    assert {*made.loops, *made.layers} <= of_layers
    assert of_layers.isdisjoint(made.trees)
    assert of_trees | of_layers == set(loops_of(method))


def test_a_run_needs_no_loops_of_others(monkeypatch):
    monkeypatch.delitem(sys.modules, "fairdesk.models.dense.layers", raising=False)
    named = {module.rpartition(".")[2] for module in loops_of("uniform")}
    assert named == {"filling", "kernels"}
    assert len(loops_of("uniform", near=True)) == len(named) + 1
    assert {module.rpartition(".")[2] for module in loops_of("testsgd")} == {"filling"}
    # what there is without a model
    assert not loops_of("groups")
    monkeypatch.setitem(sys.modules, "fairdesk.models.dense.layers", ModuleType("layers"))
    assert loops_of("groups") == ("fairdesk.models.dense.forward",)


def test_an_option_shows_the_papers_symbol_and_where_it_stands():
    option = option_named(options_of(METHODS["maft"].options), "global_num")
    assert option.heading == "Starting rows  (g_num, global_num)"
    assert option.help == (
        "Number of data rows from which the search starts. In the paper: g_num (global generation)."
    )


SYMBOLS = {
    "maft": {
        "global_num": "g_num",
        "local_num": "l_num",
        "cluster_num": "c_num",
        "global_step": "s_g",
        "local_step": "s_l",
        "perturbation_size": "h",
    },
    "aequitas-full": {
        "global_iteration_limit": "N",
        "local_iteration_limit": "N",
        "init_prob": "σᵥ",
        "direction_probability_change_size": "Δᵥ",
        "param_probability_change_size": "Δₚᵣ",
        "gamma": "γ",
    },
    "estimate": {"trials": "K", "people": "m"},
    "themis": {"threshold": "θ"},
}


@pytest.mark.parametrize("key", SYMBOLS)
def test_options_have_their_papers_symbols_and_titles_none(key):
    options = options_of(METHODS[key].options)
    assert {each.name: each.symbol for each in options if each.symbol} == SYMBOLS[key]
    assert not any(each.title.endswith(f"({each.symbol})") for each in options)


def test_aequitas_names_the_papers_own_search_and_its_program():
    for key in ("aequitas-random", "aequitas-semi", "aequitas-full"):
        acceptance = option_named(options_of(METHODS[key].options), "acceptance")
        assert "Paper: Algorithm 2" in acceptance.help
        for chance in (0.0, 0.37, 1.0):
            assert parse_options(key, {"acceptance": chance}).acceptance == chance
