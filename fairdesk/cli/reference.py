"""What the page of the command line shows: the help of each command."""

from __future__ import annotations

import argparse

from fairdesk.cli.commands import COMMANDS
from fairdesk.cli.parsing import Parser, whole_number
from fairdesk.cli.portfolio import NAME, flags, options, repeats
from fairdesk.manual.reference import plain, table


def commands_page() -> str:
    """Return the help of all commands, as Markdown."""
    made: dict[str, Parser] = {}

    def add_parser(name: str, **_about: object) -> Parser:
        made[name] = Parser(prog=f"fairdesk {name}")
        return made[name]

    for add in COMMANDS:
        add(add_parser)
    return "\n".join(
        f"## fairdesk {name} {{ #{name} }}\n\n```text\n{each.whole_help()}```\n"
        + (_plan_keys() if name == "audit-many" else "")
        for name, each in made.items()
    )


def _plan_keys() -> str:
    """Return a table of the keys of a plan, made of the options of an audit."""
    named = (f"`{NAME}`", "text", "its title, and the name of its folder; by default the model’s")
    rows = [(f"`{key}`", _kind(each), plain(each.help or "")) for key, each in options().items()]
    return f"\n### Keys of a plan\n\n{table(('Key', 'Value', 'Meaning'), [named, *rows])}"


def _kind(action: argparse.Action) -> str:
    """Say what a key's value is."""
    if flags(action):
        return "true or false"
    if repeats(action):
        return "text or list"
    return "number" if action.type in (int, float, whole_number) else "text"
