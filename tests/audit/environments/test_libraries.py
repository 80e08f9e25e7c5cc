"""What the guest imports is installed in its environments: by its source, without a network."""

import ast
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from fairdesk.audit.catalogue.implementations import IMPLEMENTATIONS
from fairdesk.audit.environments import installing
from fairdesk.audit.environments.installing import lacking, specifications

ROOT = Path(__file__).parents[3]
GUEST, RELAY = "fairdesk.audit.worker.guest", "fairdesk.audit.worker.relay_server"
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def source_of(module):
    path = ROOT.joinpath(*module.split("."))
    return next(
        (each for each in (path / "__init__.py", path.with_suffix(".py")) if each.is_file()), None
    )


def imports(node):
    """Yield the modules that are imported anywhere in a source, but for its types alone."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        if isinstance(child, ast.Import):
            yield from (each.name for each in child.names)
        elif isinstance(child, ast.ImportFrom):
            yield from (f"{child.module}.{each.name}" for each in child.names)
        elif isinstance(child, ast.Call) and ast.unparse(child.func).endswith("import_module"):
            yield from (each.value for each in child.args if isinstance(each, ast.Constant))
        yield from imports(child)


def libraries_behind(*starts, among=None):
    """Return which libraries modules and all that they import need, each with one that does."""
    found, seen, waiting = {}, set(), list(starts)
    while waiting:
        module = waiting.pop()
        path = source_of(module)
        if module in seen or (among is not None and path not in among):
            continue
        seen.add(module)
        for name in imports(ast.parse(path.read_text("utf-8"))):
            parts = name.split(".")
            if parts[0] == "fairdesk":
                inside = (".".join(parts[:i]) for i in range(1, len(parts) + 1))
                waiting += [each for each in inside if source_of(each) is not None]
            elif parts[0] not in sys.stdlib_module_names:
                found.setdefault(parts[0], module)
    return found


def guest_needs():
    return libraries_behind(GUEST, *(each.module for each in IMPLEMENTATIONS.values()))


def test_what_the_guest_imports_is_installed_for_it_or_left_out_for_a_reason():
    needed = guest_needs()

    assert {"pandas", "numba", "lark", "z3"} <= needed.keys()
    listed = installing.GUEST_IMPORTS | installing.NOT_INSTALLED
    assert {name: by for name, by in needed.items() if name not in listed} == {}
    assert listed.keys() - needed.keys() == set()
    assert not installing.GUEST_IMPORTS.keys() & installing.NOT_INSTALLED.keys()
    assert all(installing.NOT_INSTALLED.values())


def test_what_opens_older_models_finds_its_libraries_too():
    written = SETTINGS["tool"]["ruff"]["per-file-target-version"]
    needed = libraries_behind(RELAY, among={ROOT / each for each in written} | {None})

    listed = installing.RELAY_IMPORTS | installing.NOT_RELAYED
    assert {name: by for name, by in needed.items() if name not in listed} == {}
    assert listed.keys() - needed.keys() == set()


def test_each_library_is_installed_under_its_own_name_and_one_of_the_product_s():
    project = SETTINGS["project"]
    product = " ".join((*project["dependencies"], *project["optional-dependencies"]["boosting"]))
    homes = packages_distributions()
    for name, specification in installing.GUEST_IMPORTS.items():
        if not specification:
            continue
        installed_as = installing._name(specification)
        assert installed_as in {each.lower() for each in homes[name]}, name
        assert installed_as in product, name


@pytest.mark.parametrize("scikit", ["1.1.3", "1.3.2", "1.9.0"])
def test_an_environment_of_the_guest_has_all_that_fits_its_version(scikit):
    wanted = specifications({"scikit-learn": scikit})

    assert {each for each in installing.GUEST_IMPORTS.values() if each} <= {*wanted}
    assert any(each.startswith("skops") for each in wanted) == (scikit != "1.1.3")


def test_what_an_environment_lacks_is_named():
    everything = specifications({"scikit-learn": "1.3.2"})
    present = {installing._name(each): "1" for each in everything}

    assert lacking({"scikit-learn": "1.3.2"}, present) == []
    del present["scipy"], present["z3-solver"]
    assert lacking({"scikit-learn": "1.3.2"}, present) == ["scipy", "z3-solver"]
    assert lacking({"scikit-learn": "1.0.2"}, {"scikit-learn": "1.0.2"})[0] == "joblib"
