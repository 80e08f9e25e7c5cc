"""What the ``fairdesk`` command does without the window: audits, and what came of them."""

from __future__ import annotations

import argparse
import logging
import logging.handlers
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from fairdesk import __version__
from fairdesk.cli.audit import add_audit, add_demo, check_audit
from fairdesk.cli.methods import add_methods
from fairdesk.cli.parsing import AddParser, Parser, texts, whole_number
from fairdesk.cli.portfolio import NAME, add_audit_many, flags, options, repeats
from fairdesk.cli.repair import add_repair, check_repair
from fairdesk.cli.report import add_report, check_report
from fairdesk.cli.screen import add_show
from fairdesk.cli.subject import add_inspect
from fairdesk.cli.terminal import FAILED, complain, sigterm_as_ctrl_c
from fairdesk.cli.verify import add_reproduce, add_verify
from fairdesk.errors import FairDeskError, TrustRequiredError
from fairdesk.files import log_folder

log = logging.getLogger(__name__)


def _add_open(add_parser: AddParser) -> None:
    """Add ``open``, which `run` performs: it alone needs the window."""
    add_parser("open", help=texts()["open"]["help"]).take("file", nargs="?")


#: In the order in which the help lists them.
COMMANDS = (
    _add_open,
    add_inspect,
    add_audit,
    add_audit_many,
    add_show,
    add_repair,
    add_verify,
    add_reproduce,
    add_report,
    add_methods,
    add_demo,
)
#: What of a command's arguments does not go together.
_CHECKS = {"audit": check_audit, "repair": check_repair, "report": check_report}


def parser() -> Parser:
    """Make the parser of the whole command line."""
    parser = Parser(prog="fairdesk")
    parser.take("--version", action="version", version=f"FairDesk {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    for add in COMMANDS:
        add(commands.add_parser)
    return parser


#: Opens the window on a file, or without one; gives the exit code.
Opening = Callable[[str | None], int]


def parse(argv: Sequence[str], began: float | None = None) -> argparse.Namespace:
    """Read a command line; a wrong one ends the process with a line that says why."""
    arguments = parser().parse_args(argv, argparse.Namespace(began=began))
    if check := _CHECKS.get(arguments.command):
        check(arguments)
    return arguments


def run(argv: Sequence[str], open_window: Opening, began: float | None = None) -> int:
    """Do what the command line says.

    Parameters
    ----------
    open_window : callable
        Opens the window on a file, or without one; gives the exit code.
    began : float, optional
        When the command was given, by `time.monotonic`: a time limit counts from then on.

    Returns
    -------
    int
        The exit code. Wrong arguments end the process with code 2 instead.

    Raises
    ------
    KeyboardInterrupt
        On Ctrl-C or SIGTERM, unless a search runs: that is then stopped, and what it found is
        written.
    """
    arguments = parse(argv, began)
    if arguments.command in (None, "open"):
        return open_window(getattr(arguments, "file", None))
    with sigterm_as_ctrl_c(), _log_file() as log_file:
        try:
            return cast(int, arguments.perform(arguments))
        except TrustRequiredError as error:
            complain(f"{error.what} {error.why} If you trust it, add --trust-model.")
        except FairDeskError as error:
            log.warning("%s", error, exc_info=True)
            complain(arguments.parser.naming(error))
        except Exception as error:
            log.exception("unexpected")
            complain(
                f"Something unexpected went wrong ({type(error).__name__}: {error})."
                + (f" See the log file {log_file} for details." if log_file else "")
            )
        return FAILED


@contextmanager
def _log_file() -> Iterator[Path | None]:
    """Send the log to a file of bounded size; gives its place, nothing where none can be made."""
    try:
        path = log_folder() / "fairdesk.log"
        handler = logging.handlers.RotatingFileHandler(
            path, maxBytes=1_000_000, backupCount=3, encoding="utf-8"
        )
    except OSError:
        yield None
        return
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logger = logging.getLogger("fairdesk")
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    try:
        yield path
    finally:
        logger.removeHandler(handler)
        handler.close()


def commands_page() -> str:
    """Return the help of all commands, as Markdown, for the page of the command line."""
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
    from fairdesk.manual.reference import plain, table  # noqa: PLC0415 - only the page needs it

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
