"""Notes on rules: dated, with their sources, never verdicts; and no verdict anywhere else."""

import ast
import json
import re
from pathlib import Path
from typing import get_args

import pytest

import fairdesk
from fairdesk.audit.store.records import TemplateKey
from fairdesk.report.content import passages as legal
from fairdesk.report.content.passages import TEMPLATES, note, notes, rules

FOLDER = Path(fairdesk.__file__).parent / "report" / "legal"
SOURCE = Path(fairdesk.__file__).parent
WANTED = {
    *("ll144-2023-07", "eeoc-1978", "eu-ai-act-2024", "eu-omnibus-2026", "iso-tr-24027-2021"),
    *("iso-42001-2023", "ieee-7003-2024", "nist-ai-rmf-1.0", "ecoa-reg-b-2026", "colorado-2026"),
    "model-cards-2019",
}
#: What would be a verdict. “Declaration of conformity” is a name.
VERDICTS = re.compile(
    r"\b(non-?|fully )?compliant\b|\bcompl(y|ies) with (the )?(law|rule|act|regulation)"
    r"|\bin compliance\b|\b(is|are) (un)?lawful\b|\b(is|are) (il)?legal\b|\bbias[- ]free\b"
    r"|\b(the )?(model|system|tool) is (un)?fair\b|\bcertified (as )?fair\b"
    r"|\b(pass|fail)(es|s|ed) the (four-fifths|rule|law|audit)",
    re.IGNORECASE,
)


def test_all_are_there_each_under_its_own_name():
    assert set(rules()) == WANTED
    assert {path.stem for path in FOLDER.glob("*.json")} == WANTED


@pytest.mark.parametrize("key", sorted(WANTED))
def test_each_says_when_it_was_read_and_where(key):
    rule = rules()[key]
    assert rule.id == key
    assert re.fullmatch(r"20\d\d-(0[1-9]|1[0-2])", rule.read)
    assert rule.source.url.startswith("https://")
    assert rule.source.title
    assert rule.where
    assert rule.statements
    for statement in rule.statements:
        assert re.match(r"[A-Z].*\.$", statement)
    shown = note(key)
    assert shown.dated.endswith("as read in November 2026")
    assert all(statement in shown.text for statement in rule.statements)
    status = "copy of the text" if rule.status == "text" else "secondary sources"
    assert status in shown.text


def test_every_note_of_a_template_exists():
    for template in get_args(TemplateKey):
        assert len(notes(template)) == len(TEMPLATES[template].notes)
    assert {"eu-ai-act-2024", "eu-omnibus-2026"} <= set(TEMPLATES["annex-iv"].notes)
    assert "ll144-2023-07" in TEMPLATES["ll144"].notes
    assert "model-cards-2019" in TEMPLATES["model-card"].notes


def test_a_misspelt_file_would_not_pass():
    content = json.loads((FOLDER / "eeoc-1978.json").read_text("utf-8"))
    with pytest.raises(legal.msgspec.ValidationError):
        legal.msgspec.json.decode(json.dumps({**content, "more": 1}), type=legal.Rule)


def texts_of(path):
    """Yield the texts of a module that anybody could see: all but its docstrings."""
    module = ast.parse(path.read_text("utf-8"))
    told = {
        id(node.body[0].value)
        for node in ast.walk(module)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(module):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            yield node.value


def test_nothing_that_anybody_can_read_gives_a_verdict():
    found = [
        (path.name, text)
        for path in sorted(SOURCE.rglob("*.py"))
        # most modules have no such words at all, not even over the ends of lines
        if VERDICTS.search(re.sub(r'["\s]+', " ", path.read_text("utf-8")))
        for text in texts_of(path)
        if VERDICTS.search(text)
    ]
    found += [
        (path.name, match[0])
        for kind in ("json", "j2", "typ", "pot", "po")
        for path in sorted(SOURCE.rglob(f"*.{kind}"))
        for match in VERDICTS.finditer(path.read_text("utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    "verdict",
    ["The system is compliant.", "Non-compliant", "The model is fair.", "It complies with the law"],
)
def test_a_verdict_would_be_found(verdict):
    assert VERDICTS.search(verdict)
