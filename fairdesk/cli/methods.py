"""``fairdesk methods``: which methods there are, and what each answers, takes and costs."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterator
from functools import partial

from fairdesk.audit.catalogue.method import ASSUMPTIONS, PURPOSES, Method
from fairdesk.audit.catalogue.methods import METHODS, Option, options_of
from fairdesk.cli.parsing import AddParser, command
from fairdesk.cli.terminal import print_answer
from fairdesk.wording import words

_WIDTH = 80


def add_methods(add_parser: AddParser) -> None:
    """Add ``methods``."""
    parser = command(add_parser, "methods", _methods)
    parser.take("method", nargs="?", choices=METHODS)
    parser.take_all("--json")


def _methods(arguments: argparse.Namespace) -> int:
    """List the methods or describe one; gives the exit code."""
    if arguments.method is None:
        listed = {"methods": [_listed(method) for method in METHODS.values()]}
        print_answer(arguments.json, lambda: listed, lambda: "\n".join(_list()), "methods")
        return 0
    method = METHODS[arguments.method]
    print_answer(
        arguments.json, partial(_described, method), lambda: "\n".join(_description(method))
    )
    return 0


def _listed(method: Method) -> dict[str, object]:
    purpose = PURPOSES[method.answers]
    return {
        "key": method.key,
        "title": method.title,
        "purpose": purpose.title,
        "question": purpose.question,
        "evidence": purpose.evidence,
        "sentence": method.description,
        "cost": method.cost,
    }


def _described(method: Method) -> dict[str, object]:
    return {
        **_listed(method),
        "command": method.command,
        "shows": method.shows,
        "does_not_show": method.cannot,
        "needs": method.needed,
        "assumes": ASSUMPTIONS[method.repeats],
        "paper": method.paper,
        "options": [
            {
                "name": each.name,
                "title": each.title,
                "help": each.help,
                "symbol": each.symbol,
                "takes": each.takes,
                "default": each.default,
            }
            for each in options_of(method.options)
        ],
    }


def _list() -> Iterator[str]:
    keys = max(map(len, METHODS))
    titles = max(len(each.title) for each in METHODS.values())
    for kind, purpose in PURPOSES.items():
        evidence = f" (evidence: {purpose.evidence})" if purpose.evidence else ""
        yield from _wrapped(f"{purpose.title}: {purpose.question}{evidence}")
        for method in METHODS.values():
            if method.answers is kind:
                yield (f"  {method.key.ljust(keys)}  {method.title.ljust(titles)}  {method.cost}")
        yield ""
    yield "“fairdesk methods NAME” describes a method and lists its options."


def _description(method: Method) -> Iterator[str]:
    yield f"{method.title} ({method.command})"
    yield ""
    yield from _wrapped(method.description)
    facts = (
        ("Question", PURPOSES[method.answers].question),
        ("What it shows", method.shows),
        ("What it does not show", method.cannot),
        ("Cost", f"{words.capital(method.cost)}."),
        ("Needs", method.needed),
        ("Assumes", ASSUMPTIONS[method.repeats]),
        ("In parallel", method.division.sentence),
        ("Paper", method.paper),
    )
    for name, text in facts:
        yield ""
        yield from _wrapped(f"{name}: {text}")
    yield ""
    options = options_of(method.options)
    yield "Options (--option NAME=VALUE):" if options else "It has no options."
    for option in options:
        yield from _option(option)


def _option(option: Option) -> Iterator[str]:
    default = option.default
    shown = default if isinstance(default, str) else words.short(default)
    yield from _wrapped(
        f"{option.name}: {option.title}. {words.capital(option.takes)}; default {shown}.", "  "
    )
    yield from _wrapped(option.help, "      ")


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )
