"""What the arguments of several commands share, and the help of the commands."""

from __future__ import annotations

import argparse
import itertools
import re
import sys
import textwrap
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn, TypeVar

import msgspec

from fairdesk.audit.catalogue.methods import METHODS, options_of, parse_options
from fairdesk.audit.plan.spec import OptionValue
from fairdesk.errors import FairDeskError, SpecError, did_you_mean

#: Characters in a line, and the most lines of what ``--help`` prints.
WIDTH, MOST_LINES = 80, 60
#: Where the text of an option begins.
_TEXT = 26


@cache
def texts() -> Mapping[str, Any]:
    """Return what is said of each command, and of the options."""
    with Path(__file__).with_name("usage.toml").open("rb") as file:
        return tomllib.load(file)


def option_text(command: str, name: str) -> tuple[str, str, str]:
    """Return what the value of an option is called, what it does, and what it takes."""
    options = texts()["options"]
    metavar, text, *kind = options.get(f"{command} {name}") or options[name]
    return metavar, text, "".join(kind)


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


T = TypeVar("T", bound=msgspec.Struct)
#: The exit code of a wrong command line.
USAGE = 2

#: ``add_parser(name, help=...)``, with which a command is added.
AddParser = Callable[..., "Parser"]


#: The arguments of settings that have another name on the command line.
_ARGUMENTS = {
    "limits": "domain",
    "text": "text_column",
    "columns": "numeric",
    "options": "option",
    "edges": "bins",
}


class Parser(argparse.ArgumentParser):
    """Takes options that `usage` describes, and tells what is wrong with them in one line."""

    def __init__(self, **kwargs: Any) -> None:  # noqa: ANN401 - argparse's
        super().__init__(allow_abbrev=False, add_help=False, **kwargs)
        self.command = self.prog.split()[-1]
        self.taken: dict[str, argparse.Action] = {}
        self.set_defaults(parser=self)
        self.take("-h", "--help", action="help")
        if "more" in texts().get(self.command, ()):
            self.take("--help-all", action=_HelpAll, nargs=0)

    def take(
        self,
        *names: str,
        within: argparse._ActionsContainer | None = None,
        fill: Mapping[str, str] = MappingProxyType({}),
        **kwargs: Any,  # noqa: ANN401 - argparse's
    ) -> argparse.Action:
        """Add an argument, of which help and kind are those of its last name.

        Parameters
        ----------
        within : argparse._ActionsContainer, optional
            A group of options of which only one may be given.
        fill : Mapping[str, str]
            What stands for names in angle brackets in the help.
        """
        metavar, text, kind = option_text(self.command, names[-1])
        for name, value in fill.items():
            text = text.replace(f"<{name}>", value)
        named: dict[str, Any] = {"metavar": metavar} if metavar else {}
        if kind.endswith("!") and names[-1].startswith("-"):
            named["required"] = True
        named |= {**KINDS[kind.rstrip("!")], **kwargs}
        text = text.replace("%", "%%")
        taken = (within or self).add_argument(*names, help=text, **named)
        return self.taken.setdefault(names[-1], taken)

    def take_all(self, *more: str) -> None:
        """Add arguments, and those that the groups of the help name, unless they are there.

        Afterwards `taken` has them in the order of the help.
        """
        about = texts()[self.command]
        groups = (*about.get("groups", ()), *about.get("more", ()))
        names = (*(name for _, *names in groups for name in names), *more)
        for name in names:
            if name not in self.taken:
                self.take(name)
        others = [name for name in self.taken if name not in names]
        self.taken = {name: self.taken[name] for name in (*others, *names)}

    def format_help(self) -> str:
        """Return the help, where it is long only what is asked for most."""
        return short_or_whole(self.command, self.taken)

    def whole_help(self) -> str:
        """Return the help with all that is said."""
        return whole(self.command, self.taken)

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse, where each option is one that there is, and a value of ``--json`` is joined."""
        given = [*(sys.argv[1:] if args is None else args)]
        for token in itertools.takewhile(lambda each: each != "--", given):
            name = token.partition("=")[0]
            if not token.startswith("-") and self._subparsers is not None:
                break
            if re.fullmatch(r"--[\w-]+", name) and name not in self._option_string_actions:
                near = did_you_mean(name, self._option_string_actions)
                self.error(f"there is no option {name}. {near}".rstrip(". "))
        joined = ["--json=auto" if each == "--json" else each for each in given]
        return super().parse_known_args(joined, namespace)

    def _check_value(self, action: argparse.Action, value: object) -> None:
        """Refuse what is not among the choices, and name the one that is near."""
        if action.choices is not None and value not in action.choices:
            choices = [str(each) for each in action.choices]
            near = did_you_mean(str(value), choices, f"Choose from {', '.join(choices)}.")
            raise argparse.ArgumentError(action, f"there is no “{value}”. {near.rstrip('.')}")

    def naming(self, error: FairDeskError) -> str:
        """Return an error with the argument that sets what it is about, where it names none."""
        argument = _ARGUMENTS.get(error.setting, error.setting)
        for action in self._actions:
            if error.setting and action.dest == argument:
                option = " ".join((*action.option_strings[-1:], *_metavar(action)))
                named = any(name in str(error) for name in action.option_strings)
                return str(error) if named else f"{error} Set it with {option}."
        return str(error)

    def error(self, message: str) -> NoReturn:
        """End the process with the message, and where to read more."""
        said = message[:1].upper() + message[1:].rstrip(".")
        end = "" if said.endswith("?") else "."
        self.exit(USAGE, f"{self.prog}: {said}{end} See “{self.prog} --help”.\n")


def _metavar(action: argparse.Action) -> tuple[str, ...]:
    """Return how the help calls an argument's value; nothing where it takes none."""
    return (action.metavar,) if isinstance(action.metavar, str) else ()


def whole_number(text: str) -> int:
    """Read a whole number from 0 on, as `argparse` asks for it."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"“{text}” is not a whole number from 0 up")
    return int(text)


#: What options take, by the names in ``usage.toml``, as `argparse` has it.
KINDS: Mapping[str, Mapping[str, Any]] = {
    "": {},
    "file": {"type": Path},
    "files": {"type": Path, "action": "append", "default": []},
    "text": {"default": ""},
    "texts": {"action": "append", "default": []},
    "words": {"nargs": "+", "action": "extend", "default": []},
    "number": {"type": float},
    "whole": {"type": whole_number, "default": 0},
    "count": {"type": whole_number},
    "counts": {"type": whole_number, "action": "append", "default": []},
    "flag": {"action": "store_true"},
    "switch": {"action": argparse.BooleanOptionalAction},
    "json": {"nargs": "?", "const": "auto", "choices": ("auto", "pretty", "lines")},
}


def option_names(method: str) -> tuple[str, ...]:
    """Return the names of a method's options."""
    return tuple(option.name for option in options_of(METHODS[method].options))


def options_by_method(
    methods: Sequence[str], texts: Sequence[str]
) -> dict[str, dict[str, OptionValue]]:
    """Return each method its options: those said of it, and those that it knows by that name.

    Raises
    ------
    SpecError
        When one has no value, a wrong one, or is no method's.
    """
    if texts and not methods:
        raise SpecError(
            f"The option “{texts[0]}” does not belong to a method: no method was chosen.",
            remedy="Choose one.",
            setting="method",
        )
    raw: dict[str, dict[str, str]] = {method: {} for method in methods}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals:
            raise SpecError(
                f"The option “{text}” has no value.",
                remedy="Write it as name=value.",
                setting="options",
            )
        named, dot, rest = name.rpartition(".")
        if dot and named not in methods:
            raise SpecError(
                f"The option “{name}” belongs to the method “{named}”, which was not chosen.",
                remedy=f"The chosen methods are: {', '.join(methods)}.",
                setting="method",
            )
        knowing = [named] if dot else [each for each in methods if name in option_names(each)]
        # the first method tells which options there are
        for method in knowing or methods[:1]:
            raw[method][rest] = value
    chosen = {}
    for method in methods:
        options = parse_options(method, raw[method])
        chosen[method] = {name: getattr(options, name) for name in raw[method]}
    return chosen


def command(add_parser: AddParser, name: str, perform: Callable[..., int]) -> Parser:
    """Add a command, of which `usage` says what it is for."""
    parser = add_parser(name, help=texts()[name]["help"])
    parser.set_defaults(perform=perform)
    return parser


def filled(kind: type[T], arguments: argparse.Namespace, **given: object) -> T:
    """Fill in a question of what is given, and of the arguments that have its fields' names."""
    own: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in vars(arguments).items()
        if name in kind.__struct_fields__
    }
    return kind(**{**own, **given})


class _HelpAll(argparse.Action):
    """Prints all that is said of a command."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        if isinstance(parser, Parser):
            sys.stdout.write(parser.whole_help())
        parser.exit()
