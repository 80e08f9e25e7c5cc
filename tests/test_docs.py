"""The documentation: its commands, the names of the window in it, its words, its links."""

from __future__ import annotations

import ast
import csv
import importlib
import importlib.util
import json
import re
import shlex
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import msgspec
import pytest

from fairdesk.audit.catalogue.methods import METHODS, options_of
from fairdesk.cli.commands import commands_page, parse
from fairdesk.cli.main import main
from fairdesk.cli.parsing import USAGE
from fairdesk.cli.terminal import CONDITION_MET, FAILED, INTERRUPTED, NOT_MEASURED, PARTLY
from fairdesk.document.blocks import Report
from fairdesk.manual import reference
from fairdesk.manual.places import CONTENTS
from fairdesk.manual.reference import pages
from fairdesk.models.model import Mapping
from fairdesk.report.content.passages import passages
from fairdesk.report.provenance.manifest import Manifest
from fairdesk.results.groups import GroupTable
from fairdesk.samples import samples

HOUSE = Path(__file__).resolve().parents[1]
DOCS = HOUSE / "docs"
PAGES = [*sorted([*DOCS.rglob("*.md"), *DOCS.rglob("*.md.in")]), HOUSE / "README.md"]
#: What `docs/terms.md` has better words for; the texts of the catalogue are not meant here.
BANNED = re.compile(
    r"\bnought\b|\bwhom\b|\bunlike\b|\banew\b|\bnobody\b|\bsomebody\b|\bcome to\b|\binvented\b"
    r"|\b(is|are|was|were) told\b|\bstands? (in|with|under|here)\b|\btreated alike\b"
    r"|discriminatory (person|people|individuals)|real people|another decision|possible people"
    r"|proves? that|how common\b|\bcertified fair\b",
    re.IGNORECASE,
)
#: Sentences that say of such a word that it is not used, or name a button of the window.
EXCUSED = re.compile(r"“certified\s+fair”|\*\*[^*]+\*\*")


def name(page: Path) -> str:
    return page.relative_to(HOUSE).as_posix()


@pytest.fixture(scope="module")
def made():
    return pages(commands_page())


def commands(text: str) -> list[list[str]]:
    """Return the arguments of each command that a text shows on lines of its own."""
    joined = text.replace("\\\n", " ")
    return [
        shlex.split(line.strip(), comments=True)[1:]
        for line in joined.splitlines()
        if re.match(r"\s+\.venv/bin/fairdesk ", line)
    ]


def test_every_command_on_a_page_is_one():
    shown = [(name(page), each) for page in PAGES for each in commands(page.read_text("utf-8"))]
    wrong = []
    for page, arguments in shown:
        try:
            parse(arguments)
        except SystemExit:
            wrong.append((page, arguments))
    assert wrong == []
    assert {arguments[0] for _page, arguments in shown} == {
        *("inspect", "audit", "audit-many", "show", "repair", "verify", "reproduce", "report"),
        "methods",
    }


def test_every_option_on_a_page_is_one(made):
    there = set(re.findall(r"--[a-z-]+", made["reference/command-line.md"]))
    there |= {"--upgrade", "--until"}
    named = {
        (name(page), option)
        for page in PAGES
        for code in re.findall(r"`([^`\n]+)`", page.read_text("utf-8"))
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", code)
    }
    assert {each for each in named if each[1] not in there} == set()
    assert len(named) > 30


def test_every_page_is_in_the_contents():
    listed = [place for chapter in CONTENTS for place in chapter.pages]
    written = {page.relative_to(DOCS).as_posix().removesuffix(".in") for page in PAGES[:-1]}
    assert set(listed) == written
    assert len(listed) == len(set(listed))


def test_exit_codes_are_those_of_the_commands():
    page = (DOCS / "reference" / "command-line.md.in").read_text("utf-8")
    codes = {int(code) for code in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)}
    assert codes == {0, FAILED, USAGE, NOT_MEASURED, CONDITION_MET, PARTLY, INTERRUPTED}


def test_what_makes_the_pictures_is_there():
    """It takes minutes, so that nothing else would tell of a name that has moved."""
    script = ast.parse((HOUSE / "packaging" / "pictures.py").read_text("utf-8"))
    named = [
        (each.module, alias.name)
        for each in ast.walk(script)
        if isinstance(each, ast.ImportFrom) and each.module.startswith("fairdesk")
        for alias in each.names
    ]
    assert len(named) > 5
    for module, name in named:
        # a name of the module, or a module in it
        assert hasattr(importlib.import_module(module), name) or importlib.util.find_spec(
            f"{module}.{name}"
        )


def window_texts() -> set[str]:
    """Return the texts in the window's source, as they are read on screen."""
    said = set()
    for module in (HOUSE / "fairdesk").rglob("*.py"):
        for text in re.findall(r'"((?:[^"\\\n]|\\.)*)"', module.read_text("utf-8")):
            # a button may begin with a sign
            said.add(re.sub(r"^\W ", "", text.replace("&", "")))
    for method in METHODS.values():
        said |= {method.title, method.short, *(each.title for each in options_of(method.options))}
    return said


@pytest.mark.parametrize(
    "page", [DOCS / "tutorial.md", *sorted((DOCS / "how-to").glob("*.md*"))], ids=name
)
def test_names_in_bold_are_on_screen(page):
    bold = set(re.findall(r"\*\*([^*]+)\*\*", page.read_text("utf-8"))) - {"bold"}
    data = {"race", "sex"}  # the sample's own columns, on buttons
    assert bold - window_texts() - data == set()


def test_the_tutorial_gives_only_percentages_that_every_audit_of_the_sample_has():
    # what ends by the clock differs by computer, and from the pictures, which are made again
    with samples()[0].data_path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))

    def rate(**of):
        held = [row for row in rows if of.items() <= row.items()]
        return sum(row["income"] == ">50K" for row in held) / len(held)

    text = (DOCS / "tutorial.md").read_text("utf-8")
    shares = rate(race="Black"), rate(race="White"), 1 - rate()
    # the rule of thumb for ratios and groups, and the accuracy of the sample's model
    others = {"80", "2", "95", "84.0"}
    found = set(re.findall(r"([\d.]+) %", text))
    assert found - others == {f"{100 * share:.1f}" for share in shares}
    assert "percentage points" not in text


def test_every_method_and_option_is_described(made):
    page = made["reference/methods.md"]
    parts = dict(
        re.findall(
            r"^### [^\n]*\{ #([\w-]+) \}\n(.*?)(?=^###? |\Z)", page, re.MULTILINE | re.DOTALL
        )
    )
    assert set(parts) == set(METHODS)
    for key, method in METHODS.items():
        for option in options_of(method.options):
            assert f"</a>`{option.name}` |" in parts[key]
            assert f"| {option.takes} | {option.default} |" in parts[key]


def test_every_figure_and_limit_is_described(made):
    assert set(reference.SUBJECTS) == set(passages("definitions"))
    assert set(reference.LIMITS) == set(passages("limits"))
    keys = {each.formula for held in passages("definitions").values() for each in held} - {""}
    formulas = re.findall(r"\{ #(\w+) \}\n\n<math alttext=", made["reference/figures.md"])
    assert set(formulas) == keys
    assert "{" not in made["reference/limits.md"]


def test_members_of_json_are_described(made):
    page = made["reference/json.md"]
    parts = dict(
        re.findall(r"^### (\w+) \{[^\n]*\n(.*?)(?=^###? |\Z)", page, re.MULTILINE | re.DOTALL)
    )
    for struct in (Report, GroupTable, Manifest, Mapping):
        for field in msgspec.structs.fields(struct):
            assert f"| `{field.encode_name}` |" in parts[struct.__name__]
    # a struct in a member's type is described too
    assert {"Section", "GroupLine", "RunOf", "Input"} <= set(parts)
    assert "Literal" not in page
    assert "typing" not in page


def test_what_an_audit_prints_as_json_is_described(tmp_path, capfd):
    sample = samples()[0]
    asked = ["--label", sample.label, "--favourable", sample.favourable, "--protected", "sex"]
    model = sample.model_path(sample.models[0])
    run = [
        "--method",
        "uniform",
        "--option",
        "samples=30",
        "--json",
        "--out",
        str(tmp_path),
        "--all-pairs",
    ]
    assert (
        main(["audit", "--data", str(sample.data_path), "--model", str(model), *asked, *run]) == 0
    )
    printed = json.loads(capfd.readouterr().out)
    page = (DOCS / "reference" / "json.md.in").read_text("utf-8")
    assert printed.keys() <= set(re.findall(r"`(\w+)`", page))
    pair = json.loads((tmp_path / "findings.json").read_text("utf-8"))["pairs"][0]
    assert pair.keys() <= set(re.findall(r"`(\w+)`", page.partition("## Pairs")[2]))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_pages_keep_to_the_terms(page):
    text = EXCUSED.sub("", page.read_text("utf-8"))
    assert [found[0] for found in BANNED.finditer(text)] == []


def test_pictures_are_small_and_used():
    pictures = sorted((DOCS / "pictures").iterdir())
    assert sum(each.stat().st_size for each in pictures) < 1_500_000
    shown = "".join(page.read_text("utf-8") for page in PAGES)
    assert [each.name for each in pictures if f"pictures/{each.name})" not in shown] == []


class Links(HTMLParser):
    """What a page links to, loads, and can be linked at."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.places: set[str] = set()
        self.feed(page.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        held = dict(attrs)
        self.places |= {held["id"]} if held.get("id") else set()
        if tag == "a" and held.get("href"):
            self.links.append(held["href"])
        elif tag == "link" and held.get("rel") not in ("canonical", "prev", "next"):
            self.loads.append(held["href"])
        elif held.get("src"):
            self.loads.append(held["src"])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("material", reason="the tools that build the documentation are not here")
    folder = tmp_path_factory.mktemp("site")
    ran = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder],
        cwd=HOUSE,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return folder


def test_no_link_of_the_site_is_dead(site):
    pages = {page.resolve(): Links(page) for page in site.rglob("*.html")}
    dead = []
    for page, found in pages.items():
        if page.name == "404.html":  # served at any place, so its links begin at the root
            continue
        for link in [*found.links, *found.loads]:
            url = urlsplit(link)
            if url.scheme or url.netloc:
                continue
            target = (page.parent / unquote(url.path)).resolve() if url.path else page
            known = pages[target].places if target in pages else set()
            if not target.exists() or (url.fragment and unquote(url.fragment) not in known):
                dead.append((page.name, link))
    assert dead == []
    assert len(pages) > 20


def test_the_site_loads_nothing_from_elsewhere(site):
    for page in site.rglob("*.html"):
        assert [each for each in Links(page).loads if urlsplit(each).netloc] == []
    # search works in pages that are opened as files, too
    index = (site / "search" / "search_index.js").read_text("utf-8")
    assert index.startswith("var __index = {")
    assert "Impact ratio" in index
    for style in site.rglob("*.css"):
        assert not re.search(r"(url\(|@import )[\"']?(https?:)?//", style.read_text("utf-8"))
