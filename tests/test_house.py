"""The house is in order: imports, lock files, scripts and what the papers say of them."""

from __future__ import annotations

import ast
import io
import os
import re
import subprocess
import sys
import tokenize
import tomllib
import warnings
import zipfile
from pathlib import Path

import pytest

from fairdesk import __version__

HOUSE = Path(__file__).resolve().parents[1]
LOCKS = (
    "requirements.txt",
    "requirements-test.txt",
    "requirements-uv.txt",
    "requirements-built.txt",
)
SCRIPTS = (".ci/run", "packaging/docs", "packaging/lock", "packaging/run", "packaging/test")
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")


def text(name: str) -> str:
    return (HOUSE / name).read_text(encoding="utf-8")


def locked(name: str) -> dict[str, str]:
    """Read a lock file: the package, with version and marker, and its hashes."""
    joined = text(f"packaging/{name}").replace("\\\n", " ")
    lines = [line for line in joined.splitlines() if line and not line.startswith("#")]
    return {line.partition(" --hash")[0].strip(): line for line in lines}


#: No line of code: a comment, and what only ends or indents lines.
LAYOUT = (
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    *(tokenize.ENCODING, tokenize.ENDMARKER),
)
#: A room may be this much smaller than its number before it is said that the number can be lowered.
SLACK = 200


@pytest.mark.parametrize("name", LOCKS)
def test_every_locked_package_has_a_version_and_hashes(name):
    requirements = locked(name)
    assert requirements
    for requirement, line in requirements.items():
        assert re.match(r"[a-z0-9-]+==[^ ]+( ; .+)?$", requirement)
        assert HASH.search(line)


@pytest.mark.parametrize("name", LOCKS)
def test_lock_files_name_no_place(name):
    content = text(f"packaging/{name}")
    assert "://" not in content
    assert "file:" not in content
    assert not re.search(r"(^|\s)(/|--(extra-)?index-url|--find-links)", content)


def test_test_lock_holds_the_whole_run_lock():
    assert locked("requirements.txt").items() <= locked("requirements-test.txt").items()


def test_locks_hold_what_pyproject_asks_for():
    project = tomllib.loads(text("pyproject.toml"))
    groups = project["dependency-groups"]
    asked = [
        *project["project"]["dependencies"],
        *project["project"]["optional-dependencies"]["tensorflow"],
        *groups["build"],
        *groups["test"],
        *groups["docs"],
    ]
    names = {re.match(r"[A-Za-z0-9-]+", requirement)[0].lower() for requirement in asked}
    held = [locked(f"requirements-{lock}.txt") for lock in ("test", "built")]
    assert names <= {requirement.split("==")[0] for lock in held for requirement in lock}


def test_an_installed_package_holds_the_pages_of_the_help(tmp_path):
    built = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path]
    subprocess.run(built, cwd=HOUSE, check=True, capture_output=True)
    [wheel] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as held:
        names = set(held.namelist())
    docs = HOUSE / "docs"
    pages = {each.relative_to(docs).as_posix() for each in docs.rglob("*.*") if each.is_file()}
    assert {f"fairdesk/_docs/{page}" for page in pages} <= names
    assert "fairdesk/_docs/terms.md" in names
    assert "fairdesk/manual/choosing.toml" in names


def test_packaging_is_no_package():
    assert not (HOUSE / "packaging" / "__init__.py").exists()


def test_version_is_told_once():
    assert tomllib.loads(text("pyproject.toml"))["project"]["version"] == __version__


def test_imports_run_one_way():
    ran = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=HOUSE,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.skipif(os.name == "nt", reason="Windows keeps no executable bit")
def test_scripts_can_be_started(name):
    script = HOUSE / name
    assert os.access(script, os.X_OK)
    first, *_ = script.read_text(encoding="utf-8").splitlines()
    assert first == "#!/usr/bin/env bash"
    assert "set -euo pipefail" in script.read_text(encoding="utf-8")


def test_readme_tells_the_two_commands():
    readme = text("README.md")
    for command in (
        "packaging/run ",
        "packaging/test ",
        r"packaging\run.ps1",
        r"packaging\test.ps1",
    ):
        assert command in readme


@pytest.mark.parametrize("paper", ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"])
def test_links_in_papers_lead_somewhere(paper):
    links = re.findall(r"\]\(([^)#]+)", text(paper))
    assert [link for link in links if "://" not in link and not (HOUSE / link).exists()] == []


@pytest.mark.parametrize("paper", ["CONTRIBUTING.md", "ARCHITECTURE.md"])
def test_modules_that_papers_name_are_there(paper):
    named = set(re.findall(r"`(?:fairdesk/)?([a-z_]+(?:/[a-z_]+)+)/?(?:\.py)?`", text(paper)))
    there = {
        each.relative_to(HOUSE).with_suffix("").as_posix()
        for folder in ("fairdesk", "tests", "packaging", ".ci", "docs")
        for each in (HOUSE / folder).rglob("*")
    }
    missing = {each for each in named if not any(f"/{one}".endswith(f"/{each}") for one in there)}
    assert missing == set()
    assert len(named) > 10


def test_checks_before_a_commit_are_those_of_ci():
    before_commit = text(".pre-commit-config.yaml")
    for check in ("ruff check", "ruff format --check", "mypy", "lint-imports", "shellcheck"):
        assert f"check {check}" in text(".ci/run")
        assert check in before_commit


def code_lines(source: str) -> int:
    """Count lines of code: no blank ones, comments, docstrings or imports."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in LAYOUT:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if isinstance(node, (ast.Import, ast.ImportFrom)) or (
            is_text and isinstance(node.value.value, str)
        ):
            lines.difference_update(range(node.lineno, node.end_lineno + 1))
    return len(lines)


def test_code_lines_are_counted():
    source = '''"""A module."""

import os
from sys import (
    path,
)

# a comment
def f(x):
    """Do."""
    text = """a

    b"""  # another
    return (
        x
    )
'''
    assert code_lines(source) == 7


def test_no_room_is_larger_than_it_may_be():
    """`[tool.fairdesk.sizes]`: lines of code and files of each folder of the package.

    A change that needs more raises the number in a commit of its own that says why.
    """
    limits = tomllib.loads(text("pyproject.toml"))["tool"]["fairdesk"]["sizes"]
    sizes: dict[str, list[int]] = {}
    for module in (HOUSE / "fairdesk").rglob("*.py"):
        inside = module.relative_to(HOUSE / "fairdesk").parts
        size = sizes.setdefault(inside[0] if len(inside) > 1 else "modules", [0, 0])
        size[0] += code_lines(module.read_text(encoding="utf-8"))
        size[1] += 1
    assert sizes.keys() == limits.keys(), "a folder of fairdesk/ without a size, or the reverse"
    larger = [
        f"{room}: {size[i]} {what}, {limits[room][i]} are allowed"
        for room, size in sorted(sizes.items())
        for i, what in enumerate(("lines of code", "files"))
        if size[i] > limits[room][i]
    ]
    assert not larger, (
        "Make it smaller, or raise the number in pyproject.toml in a separate commit that says "
        f"why: {larger}"
    )
    for room, size in sizes.items():
        if size[0] + SLACK < limits[room][0]:
            warnings.warn(f"Lower the size of {room} in pyproject.toml to {size}.", stacklevel=1)
