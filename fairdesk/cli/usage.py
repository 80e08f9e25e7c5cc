"""The help of the commands: what ``usage.toml`` says of them, in groups, with examples."""

from __future__ import annotations

import argparse
import textwrap
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

#: Characters in a line, and the most lines of what ``--help`` prints.
WIDTH, MOST_LINES = 80, 60
#: Where the text of an option begins.
_TEXT = 26


@cache
def texts() -> Mapping[str, Any]:
    """Return what is said of each command, and of the options."""
    with Path(__file__).with_name("usage.toml").open("rb") as file:
        return tomllib.load(file)


def option_text(command: str, name: str) -> tuple[str, str]:
    """Return what the value of an option is called, and what it does."""
    options = texts()["options"]
    metavar, text = options.get(f"{command} {name}") or options[name]
    return metavar, text


def short_or_whole(command: str, actions: Mapping[str, argparse.Action]) -> str:
    """Return the help of a command: where that is long, only what is asked for most."""
    text = whole(command, actions)
    if text.count("\n") <= MOST_LINES:
        return text
    return "\n".join(_lines(command, actions, short=True)) + "\n"


def whole(command: str, actions: Mapping[str, argparse.Action]) -> str:
    """Return all that there is to say of a command, with each option by its last name."""
    return "\n".join(_lines(command, actions, short=False)) + "\n"


def _lines(command: str, actions: Mapping[str, argparse.Action], *, short: bool) -> Iterator[str]:
    about = texts()[command]
    more = about.get("more", [])
    *groups, last = about.get("groups", [["Options"]])
    yield f"usage: {about['usage']}"
    if description := about.get("description"):
        yield from ("", *_wrapped(description))
    if examples := about.get("examples"):
        yield from ("", "examples:", *(f"  {each}" for each in examples))
    named = {name for _, *names in (*groups, *more) for name in names}
    formatter = _Formatter(command, short=short)
    for title, *names in (*groups, *(() if short else more), [*last, *actions]):
        formatter.start_section(title)
        kept = [each for each in names if title != last[0] or each not in named]
        formatter.add_arguments([_argument(each, actions) for each in kept])
        formatter.end_section()
    yield from ("", *formatter.format_help().rstrip().splitlines())
    if short and more:
        yield from ("", f"more options (fairdesk {command} --help-all describes them):")
        yield from (line for name, *names in more for line in _wrapped(", ".join(names), name))
    elif epilog := about.get("epilog"):
        yield from ("", *_wrapped(epilog))


def _argument(name: str, actions: Mapping[str, argparse.Action]) -> argparse.Action:
    """Return an argument, or a command as if it were one."""
    return actions.get(name) or argparse.Action([], name, help=texts()[name]["help"])


def _wrapped(text: str, lead: str = "") -> list[str]:
    first, others = (f"  {lead:<9} ", " " * 12) if lead else ("", "")
    return textwrap.wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=others, break_on_hyphens=False
    )


class _Formatter(argparse.HelpFormatter):
    """Writes options as the help has them; of texts that are to be short the first part."""

    def __init__(self, prog: str, *, short: bool) -> None:
        super().__init__(prog, max_help_position=_TEXT, width=WIDTH)
        self._short = short

    def _expand_help(self, action: argparse.Action) -> str:
        text = super()._expand_help(action)
        return text.partition(";")[0] if self._short else text

    def _format_args(self, action: argparse.Action, default_metavar: str) -> str:
        if action.nargs in ("+", "?") and action.option_strings:
            return f"{action.metavar} ..." if action.nargs == "+" else f"[={action.metavar}]"
        return super()._format_args(action, default_metavar)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        return super()._format_action_invocation(action).replace(" [=", "[=")
