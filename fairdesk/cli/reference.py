"""What the page of the command line shows: the help of each command."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

from fairdesk.cli.commands import COMMANDS

#: Characters in a line of the commands' help.
WIDTH = 80


def commands_page() -> str:
    """Return the help of all commands, as Markdown."""
    commands = argparse.ArgumentParser("fairdesk").add_subparsers()
    made = {}

    def add_parser(name: str, **about: Any) -> argparse.ArgumentParser:  # noqa: ANN401 - argparse's
        formatter = partial(argparse.HelpFormatter, width=WIDTH)
        made[name] = commands.add_parser(name, formatter_class=formatter, **about)
        return made[name]

    for add in COMMANDS:
        add(add_parser)
    return "\n".join(
        f"## fairdesk {name} {{ #{name} }}\n\n```text\n{parser.format_help()}```\n"
        for name, parser in made.items()
    )
