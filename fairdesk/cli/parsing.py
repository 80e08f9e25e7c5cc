"""What the arguments of several commands share."""

from __future__ import annotations

import argparse
import itertools
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from fairdesk.audit.catalogue.methods import METHODS, parse_options
from fairdesk.audit.catalogue.options import options_of
from fairdesk.audit.plan.spec import OptionValue
from fairdesk.errors import FairDeskError, SpecError, did_you_mean

#: The exit code of a wrong command line.
USAGE = 2

#: ``add_parser(name, help=..., description=..., epilog=...)``, with which a command is added.
AddParser = Callable[..., argparse.ArgumentParser]


#: The arguments of settings that have another name on the command line.
_ARGUMENTS = {
    "limits": "domain",
    "text": "text_column",
    "columns": "numeric",
    "options": "option",
    "edges": "bins",
}


class Parser(argparse.ArgumentParser):
    """Tells what is wrong with the command line in one line, and what sets a setting."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - argparse's
        super().__init__(*args, **kwargs)
        self.set_defaults(parser=self)

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
            near = did_you_mean(str(value), choices) or f"Choose from {', '.join(choices)}."
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


def add_opening(parser: argparse.ArgumentParser) -> None:
    """Add what else it takes to open a model."""
    add = parser.add_argument
    add(
        "--companion",
        metavar="FILE",
        type=Path,
        action="append",
        default=[],
        help=(
            "a companion file with the model’s preprocessing: a scaler, encoders, the order of "
            "its inputs; may be repeated"
        ),
    )
    add(
        "--trust-model",
        action="store_true",
        help="open a model file, or a companion file, that can run code: any code in it is run",
    )
    add(
        "--make-environment",
        action="store_true",
        help=(
            "if the model was saved with other library versions: make an environment with them, "
            "from the package registry, and open the model there"
        ),
    )


def add_cluster(parser: argparse.ArgumentParser) -> None:
    """Add ``--cluster``."""
    parser.add_argument(
        "--cluster",
        metavar="WHERE",
        default="",
        help=(
            "spread runs over the workers of a Dask cluster: local (a worker for each core of this "
            "computer), local:N, the address of a scheduler (tls://host:8786, tcp://host:8786), or "
            "a Dask scheduler file. Methods that cannot be divided run on this computer"
        ),
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add ``--json``."""
    parser.add_argument(
        "--json",
        metavar="pretty|lines",
        nargs="?",
        const="auto",
        choices=("auto", "pretty", "lines"),
        help=(
            "print the figures as JSON and nothing else; indented on a terminal or with "
            "--json=pretty, with --json=lines an object a line for each run"
        ),
    )
