"""What the arguments of several commands share."""

from __future__ import annotations

import argparse
import itertools
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn

from fairdesk.audit.catalogue.methods import METHODS, parse_options
from fairdesk.audit.catalogue.options import options_of
from fairdesk.audit.plan.spec import OptionValue
from fairdesk.cli import usage
from fairdesk.errors import FairDeskError, SpecError, did_you_mean

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
        if "more" in usage.texts().get(self.command, ()):
            self.take("--help-all", action=_HelpAll, nargs=0)

    def take(
        self,
        *names: str,
        within: argparse._ActionsContainer | None = None,
        fill: Mapping[str, str] = MappingProxyType({}),
        **kwargs: Any,  # noqa: ANN401 - argparse's
    ) -> argparse.Action:
        """Add an argument, of which the help is that of its last name.

        Parameters
        ----------
        within : argparse._ActionsContainer, optional
            A group of options of which only one may be given.
        fill : Mapping[str, str]
            What stands for names in angle brackets in the help.
        """
        metavar, text = usage.option_text(self.command, names[-1])
        for name, value in fill.items():
            text = text.replace(f"<{name}>", value)
        named: dict[str, Any] = {"metavar": metavar} if metavar else {}
        text = text.replace("%", "%%")
        taken = (within or self).add_argument(*names, help=text, **named, **kwargs)
        return self.taken.setdefault(names[-1], taken)

    def format_help(self) -> str:
        """Return the help, where it is long only what is asked for most."""
        return usage.short_or_whole(self.command, self.taken)

    def whole_help(self) -> str:
        """Return the help with all that is said."""
        return usage.whole(self.command, self.taken)

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
    parser = add_parser(name, help=usage.texts()[name]["help"])
    parser.set_defaults(perform=perform)
    return parser


def add_opening(parser: Parser) -> None:
    """Add what else it takes to open a model."""
    parser.take("--companion", type=Path, action="append", default=[])
    parser.take("--trust-model", action="store_true")
    parser.take("--make-environment", action="store_true")


def add_seed(parser: Parser) -> None:
    """Add ``--seed``."""
    parser.take("--seed", type=whole_number, default=0)


def add_cluster(parser: Parser) -> None:
    """Add ``--cluster``."""
    parser.take("--cluster", default="")


def add_json(parser: Parser) -> None:
    """Add ``--json``."""
    parser.take("--json", nargs="?", const="auto", choices=("auto", "pretty", "lines"))


class _HelpAll(argparse.Action):
    """Prints all that is said of a command."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        if isinstance(parser, Parser):
            sys.stdout.write(parser.whole_help())
        parser.exit()
