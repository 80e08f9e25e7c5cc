"""What is said below the window is true on the command line too; tests look for it in one place."""

import ast
import re
import tomllib
from collections import defaultdict
from functools import cache
from pathlib import Path

import msgspec

import fairdesk
from fairdesk.audit.plan.spec import AuditSpec, Limits
from fairdesk.audit.runs.plausibility import PlausibleShare
from fairdesk.audit.store.pair import FIELDS
from fairdesk.audit.store.records import Details, RunRecord
from fairdesk.certify.proof.certificate import Header
from fairdesk.document.blocks import Report
from fairdesk.manual import reference
from fairdesk.report.provenance.manifest import Manifest

ROOT = Path(fairdesk.__file__).parent
TESTS = Path(__file__).parent
#: What there is in the window only.
OF_THE_WINDOW = re.compile(
    r"\b((on|in|from|of) the \w+ page|click\w*|buttons?|pressed|drag\w*|wizard|dialogs?)\b",
    re.IGNORECASE,
)
WORD = re.compile(r"[“(]?[^\W\d_]{2,}[”),.:;?!…]*")
#: So many words are a text; words that more of the product's texts share are a turn of phrase.
FEWEST, SHARED = 3, 8
#: So many words of a sentence, between its values, tell which sentence it is.
TELLING = 4
#: What tests hand in and get back: constraints, SQL, and values of data.
HANDED_IN = re.compile(
    r"is determined by| implies |^(UPDATE|PRAGMA|DELETE) |^(Black|Native|Hispanic)\b.* or "
)


def texts(path, left_out=lambda _node: False):
    """Yield the texts of a module that are no docstrings, each with its line; a value is “{}”."""
    nodes = [ast.parse(path.read_text("utf-8"))]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.JoinedStr):
            parts = (each.value if isinstance(each, ast.Constant) else "{}" for each in node.values)
            yield node.lineno, "".join(parts)
            nodes += [each for each in node.values if isinstance(each, ast.FormattedValue)]
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                yield node.lineno, node.value
        elif not left_out(node) and not (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        ):
            nodes.extend(ast.iter_child_nodes(node))


@cache
def texts_of_the_product():
    """Return all texts of the product, by module and line; others stand in files."""
    return [
        *((path, *each) for path in sorted(ROOT.rglob("*.py")) for each in texts(path)),
        *((path, 1, text) for path, text in texts_in_files()),
    ]


def texts_in_files():
    """Yield what is said of methods and their options, in the forms of reports, and in cards."""
    for path in sorted((ROOT / "report" / "export").glob("*.j2")):
        for part in re.split(r"\n\s*\n|\{%[^%]*%\}", path.read_text("utf-8")):
            yield path, re.sub(r"\{\{[^{}]*\}\}", "{}", " ".join(part.split()))
    folders = (ROOT / "audit" / "catalogue", ROOT / "report" / "templates")
    for path in sorted(path for folder in folders for path in folder.glob("*.toml")):
        waiting = [tomllib.loads(path.read_text("utf-8"))]
        while waiting:
            match waiting.pop():
                case dict() as table:
                    waiting += table.values()
                case list() as several:
                    waiting += several
                case str() as text:
                    yield path, re.sub(r"\{[\w -]+\}", "{}", text)


def test_no_text_of_the_core_speaks_of_the_window():
    found, read = [], 0
    for path, line, text in texts_of_the_product():
        if "gui" not in path.parts:
            read += 1
            if OF_THE_WINDOW.search(text):
                found.append(f"{path.relative_to(ROOT)}:{line}: {text}")
    assert found == []
    assert read > 10_000


def words(text):
    """Return how many words a text has, of two letters at least; names of files are none."""
    return sum(WORD.fullmatch(each) is not None for each in text.split())


def one_line(text):
    return " ".join(re.sub(r"\{[^{}]*\}", "{}", text.replace("\\", "")).split())


def in_words(text, part):
    """Return whether a part of a text goes from the beginning of a word to the end of one."""
    first = r"\b" if part[0].isalnum() else ""
    last = r"\b" if part[-1].isalnum() else ""
    return re.search(first + re.escape(part) + last, text) is not None


def handed_in(node):
    """Return whether a test raises this itself, or says in it why it is skipped."""
    return isinstance(node, ast.Raise) or (isinstance(node, ast.keyword) and node.arg == "reason")


def test_a_text_is_looked_for_in_one_file_of_the_tests():
    """Elsewhere it is called by its name, in `tests.phrases`: a new wording changes one line."""
    told = {one_line(text) for *_, text in texts_of_the_product() if words(text) >= FEWEST}
    found = defaultdict(set)
    for path in TESTS.rglob("*.py"):
        if "benchmarks" not in path.parts:
            for line, text in texts(path, handed_in):
                if words(text) >= FEWEST:
                    found[one_line(text)].add((path.relative_to(TESTS).as_posix(), line))
    product, tests = "\n".join(told), "\n".join(found)
    between = {part.strip() for text in told for part in text.split("{}")}
    looked_for = {each for each in between if words(each) >= TELLING and each in tests}
    for text in found:
        if (
            text in product
            and 0 < sum(in_words(each, text) for each in told if text in each) <= SHARED
        ):
            looked_for.add(text)
    twice = {}
    for text in sorted(looked_for):
        if HANDED_IN.search(text):
            continue
        places = {
            place
            for each, at in found.items()
            if text in each and in_words(each, text)
            for place in at
        }
        if len({name for name, _ in places}) > 1:
            twice[text] = sorted(f"{name}:{line}" for name, line in places)
    assert twice == {}
    assert len(looked_for) > 300


#: What texts of the product and of its documents do not say, and the better word. Docstrings and
#: the other documents of the code are not read; nor are names in braces, which `format` fills.
BANNED = {
    r"nought": "zero",
    r"who(m|mever)": "turn the sentence: “the people that …”",
    r"anew": "again; re-query, retrain",
    r"afresh": "again, independently",
    r"nobody|somebody|everybody": "count instances; negate the verb; “all others”",
    r"alike": "decision unchanged; equal, the same",
    r"(treated|decided|answered|fares?|is|are) unlike": "decision changes; differs from",
    r"discriminatory (person|people|\{people\}|\{many\})": "discriminatory pair; an instance …",
    r"(is|are|was|were) told": "is reported, recorded, listed",
    r"tells?": "shows, reports, states, describes",
    r"stands? (in|with|under|here|beside)": "is in, appears in; see",
    r"invented": "synthetic",
    r"possible (people|\{people\})": "combinations of the input domain",
    r"asked about": "queried, tested",
    r"rows sent to the model": "queries",
    r"rule sets?": "subgroup, defined by a rule",
    r"how common": "how often; prevalence, of the data rows only",
    r"go(es)? on with": "continues, resumes",
    r"comes? to|came of": "the result is",
    r"otherwise than": "differently from",
    # “there is no model” is plain; “is no longer” is another word
    r"(?<!there )is no (?!longer\b)[a-z]+": "is not a …",
    r"proves? that (a model )?discriminat\w*": "shows that the decision depends on …",
    r"yardstick": "baseline",
    r"held against": "compared with, verified against",
}
#: The same for names, which are written with a capital.
BANNED_NAMES = {r"Repaired": "Mitigated; with mitigation"}
#: Texts that are right as they are, with the reason why.
RIGHT = {
    "there is no version of|not found in the package registry": "pip's own words",
}


#: A straight apostrophe inside or at the end of a word.
STRAIGHT = re.compile(r"\w'(s|t|re|ve|ll|d)?\b")


def test_apostrophes_in_sentences_are_curly():
    straight = [
        f"{path.relative_to(ROOT)}:{line}: {text}"
        for path, line, text in texts_of_the_product()
        # several lines are code
        if words(text) >= FEWEST and "\n" not in text and STRAIGHT.search(text)
    ]
    assert straight == []
    assert STRAIGHT.search("The model's inputs")


def banned():
    """Return each banned pattern, compiled, with the better word."""
    return [
        *((re.compile(rf"\b({each})(?!\w)", re.IGNORECASE), to) for each, to in BANNED.items()),
        *((re.compile(rf"\b({each})(?!\w)"), to) for each, to in BANNED_NAMES.items()),
    ]


def documents():
    """Yield the lines that are written for people outside of modules; comments are none."""
    root = ROOT.parent
    named = [root / "README.md", root / "CHANGELOG.md"]
    for path in [*named, *sorted((root / "docs").rglob("*.md*"))]:
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            yield path, number, line
    for path in sorted(ROOT.rglob("*.toml")):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            if not line.startswith("#"):
                yield path, number, line
    # the notes on rules
    for path in sorted(ROOT.rglob("*.json")):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            yield path, number, line


def test_no_text_uses_a_banned_pattern():
    """Texts use the terms of the field, one for each thing: `docs/terms.md` lists them."""
    kept = r"\{(?!people\}|many\})\w*\}"
    patterns, found, read = banned(), [], 0
    for path, line, text in [*texts_of_the_product(), *documents()]:
        # a word alone in small letters is a key of the code
        if text in RIGHT or (text.isidentifier() and text.islower()):
            continue
        read += 1
        shown = re.sub(kept, "{}", text)
        for pattern, better in patterns:
            for each in pattern.finditer(shown):
                where = f"{path.relative_to(ROOT.parent)}:{line}"
                found.append(f"{where}: “{each[0]}”, better: {better}: {shown.strip()[:100]}")
    assert found == []
    assert read > 10_000


#: Names that older audits have, at the one place that reads them.
FORMER = {("audit/store/store.py", name) for name in ("whom", "rule_sets")}
#: Where members of JSON and heads of CSV files are written that no struct declares.
WRITING = ("cli", "report/export", "audit/store", "wording/groups", "app")


def names_in_files():
    """Yield the names that people and programs meet in files and in `--json`, with their places.

    Members of structs that are written as JSON, keys of dictionaries, heads of columns.
    """
    seen = set()
    for kind in (Manifest, Report, AuditSpec, RunRecord, Limits, Details, Header, PlausibleShare):
        for struct in reference.reached(kind, seen):
            for field in msgspec.structs.fields(struct):
                yield struct.__name__, field.encode_name
    for folder in WRITING:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                keys = node.keys if isinstance(node, ast.Dict) else ()
                heads = node.elts if isinstance(node, ast.Tuple | ast.List) else ()
                for each in (*keys, *heads):
                    if isinstance(each, ast.Constant) and isinstance(each.value, str):
                        yield path.relative_to(ROOT).as_posix(), each.value
    for name, field in FIELDS.items():
        yield name, field.export
        yield name, field.member


def test_no_name_in_a_file_uses_a_banned_pattern():
    patterns, found, read = banned(), set(), 0
    for place, name in names_in_files():
        read += 1
        words_of_it = name.replace("_", " ")
        if any(pattern.search(words_of_it) for pattern, _ in patterns):
            found.add((place, name))
    assert found == FORMER
    assert read > 1_000


def test_a_banned_pattern_is_found():
    for text in (
        "Nobody was asked.",
        "All are treated alike.",
        "This is no proof.",
        "{n} rule sets",
    ):
        assert any(pattern.search(text) for pattern, _ in banned()), text
    for text in ("There is no model.", "It is no longer used.", "A node of the tree."):
        assert not any(pattern.search(text) for pattern, _ in banned()), text
