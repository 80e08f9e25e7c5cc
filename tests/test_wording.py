"""What is said below the window is true on the command line too."""

import ast
import re
from pathlib import Path

import fairdesk

ROOT = Path(fairdesk.__file__).parent
#: What there is in the window only.
OF_THE_WINDOW = re.compile(
    r"\b((on|in|from|of) the \w+ page|click\w*|buttons?|pressed|drag\w*|wizard|dialogs?)\b",
    re.IGNORECASE,
)


def texts(source):
    """Yield the texts of a module that are no docstrings, each with its line."""
    tree = ast.parse(source)
    bodies = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    described = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, bodies) and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and id(node) not in described:
            yield node.lineno, node.value


def test_no_text_of_the_core_speaks_of_the_window():
    modules = [path for path in sorted(ROOT.rglob("*.py")) if "gui" not in path.parts]
    found, read = [], 0
    for path in modules:
        for line, text in texts(path.read_text("utf-8")):
            read += 1
            if OF_THE_WINDOW.search(text):
                found.append(f"{path.relative_to(ROOT)}:{line}: {text}")
    assert found == []
    assert read > 10_000
