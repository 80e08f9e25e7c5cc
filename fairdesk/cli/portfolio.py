"""``fairdesk audit-many``: the audits of a plan, one after the other."""

from __future__ import annotations

import argparse
import re
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple, NoReturn

import msgspec

from fairdesk.app.outputs import make_folder
from fairdesk.app.portfolio import (
    Entry,
    Overview,
    Standing,
    StoppableWorker,
    overview,
    run_portfolio,
    standings,
    write_overview,
)
from fairdesk.audit.store.records import RunState
from fairdesk.cli.audit import add_audit, check_audit, question_of
from fairdesk.cli.parsing import AddParser, Parser, command
from fairdesk.cli.terminal import (
    FAILED,
    INTERRUPTED,
    audits_bar,
    complain,
    print_answer,
    print_lines,
    stoppable_worker,
    table_lines,
)
from fairdesk.cluster.connection import Link, read_place
from fairdesk.errors import FairDeskError, SpecError, did_you_mean, system_errors
from fairdesk.wording import words

#: The key that is no option: what an audit, and its folder, is called.
NAME = "name"
#: Options of a single audit that its portfolio decides.
_NOT_KEYS = ("help", "help_all", "out", "json", "cluster", "verbose", "quiet", "conditions")
_TABLES = ("title", "defaults", "audit")
_FOLDER = re.compile(r"[\w(][\w .()+-]*")
_LONGEST = 100


class Plan(NamedTuple):
    """A portfolio: its title, and its audits."""

    title: str
    entries: tuple[Entry, ...]


class _EntryParser(Parser):
    """Reads the options of one audit; what is wrong is an error of the plan."""

    def error(self, message: str) -> NoReturn:
        said = re.sub(r"(?:argument )?--([a-z-]+)", r"“\1”", message)
        raise SpecError(f"{said[:1].upper()}{said[1:].rstrip('.')}.")


@cache
def _parser() -> Parser:
    made: list[_EntryParser] = []

    def add_parser(name: str, **_about: object) -> Parser:
        made.append(_EntryParser(prog=name))
        return made[0]

    add_audit(add_parser)
    made[0].set_defaults(command="audit")
    for action in made[0].taken.values():
        action.required = action.required and action.dest not in _NOT_KEYS
    return made[0]


@cache
def options() -> dict[str, argparse.Action]:
    """Return the options of an audit by the keys of the plan, in the order of their help."""
    return {
        name.removeprefix("--"): action
        for name, action in _parser().taken.items()
        if action.dest not in _NOT_KEYS
    }


def repeats(action: argparse.Action) -> bool:
    """Return whether an option takes several values: a list in the plan."""
    return isinstance(action, argparse._AppendAction)  # noqa: SLF001 - argparse has no other way


def flags(action: argparse.Action) -> bool:
    """Return whether an option is true or false in the plan."""
    return action.nargs == 0 or isinstance(action, argparse.BooleanOptionalAction)


def read_plan(path: Path) -> Plan:
    """Read a plan and check the question of every audit, without looking at data or models.

    Raises
    ------
    SpecError
        When the file cannot be read; or the message names the audit and its key that is wrong.
    """
    remedy = "Give a plan in TOML, as the documentation shows."
    with system_errors(SpecError, f"The plan “{path}” cannot be read.", remedy):
        content = path.read_bytes()
    try:
        plan = tomllib.loads(content.decode("utf-8-sig"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SpecError(
            f"The plan “{path}” is not TOML.", why=f"It says: {error}.", remedy=remedy
        ) from error
    _known(plan, _TABLES, f"The plan “{path}”")
    title, defaults = plan.get("title", path.stem), plan.get("defaults", {})
    audits = plan.get("audit")
    if not isinstance(title, str) or not isinstance(defaults, dict):
        raise SpecError(
            f"The plan “{path}” cannot be used.",
            why="“title” is a text, and “[defaults]” is a table.",
            remedy=remedy,
        )
    tables = isinstance(audits, list) and all(isinstance(each, dict) for each in audits)
    if not audits or not tables:
        raise SpecError(
            f"The plan “{path}” lists no audits.",
            remedy="Begin each audit with a line “[[audit]]”.",
        )
    _known(defaults, options(), "“[defaults]”")
    found: dict[str, Entry] = {}
    for number, own in enumerate(audits, 1):
        entry = _entry(number, {**defaults, **own}, path.parent)
        if entry.name.casefold() in found:
            raise SpecError(
                f"Two audits of the plan are called “{entry.name}”.",
                remedy="Give each a “name” of its own: it is that of its folder.",
            )
        found[entry.name.casefold()] = entry
    return Plan(title, tuple(found.values()))


def _entry(number: int, given: Mapping[str, object], folder: Path) -> Entry:
    """Make one audit of its keys."""
    name = str(given.get(NAME, Path(str(given.get("model", given.get("predictions", "")))).stem))
    about = f"Audit {number} of the plan" + (f", “{name}”," if name else "")
    _known(given, (NAME, *options()), about)
    if not _FOLDER.fullmatch(name) or len(name) > _LONGEST or name != name.rstrip(" ."):
        raise SpecError(
            f"{about} cannot have the name “{name}”.",
            why="It is the name of a folder.",
            remedy="Give it a “name” of letters, digits, spaces and -_.() that begins with a "
            "letter or a digit.",
        )
    try:
        arguments = _parser().parse_args([*_arguments(given, folder)])
        check_audit(arguments)
        question = question_of(arguments)
    except FairDeskError as error:
        raise SpecError(f"{about} cannot be run.", why=str(error)) from error
    return Entry(name, msgspec.structs.replace(question, title=name))


def _known(given: Mapping[str, object], keys: Collection[str], about: str) -> None:
    """Refuse a key that there is not."""
    for key in given:
        if key not in keys:
            listed = f"The keys are: {', '.join(keys)}."
            raise SpecError(
                f"{about} has an unknown key “{key}”.",
                remedy=did_you_mean(key, keys, listed),
            )


def _arguments(given: Mapping[str, object], folder: Path) -> Iterator[str]:
    """Yield the command line that an audit's keys stand for; empty ones are left out."""
    for key, value in given.items():
        if key == NAME or value in ("", [], {}):
            continue
        action = options()[key]
        if flags(action):
            if not isinstance(value, bool):
                raise SpecError(f"“{key}” is true or false.")
            if value:
                yield f"--{key}"
            elif isinstance(action, argparse.BooleanOptionalAction):
                yield f"--no-{key}"
            continue
        if isinstance(value, (list, dict)) and not repeats(action):
            raise SpecError(f"“{key}” takes one value.")
        for text in _texts(key, value):
            yield f"--{key}={_path(folder, text) if action.type is Path else text}"


def _path(folder: Path, text: str) -> Path:
    """Return a path as a plan has it: relative to the plan's folder, or to a home folder."""
    try:
        return folder / Path(text).expanduser()
    except RuntimeError as error:
        raise SpecError(f"There is no home folder for “{text}”.") from error


def _texts(key: str, value: object) -> Iterator[str]:
    """Yield a value, or each of a list, as a text; of a table each entry as ``name=value``."""
    if isinstance(value, dict):
        for name, part in _entries(value):
            text = ",".join(_texts(key, part))
            yield f"{name}={text}"
    elif isinstance(value, list):
        for each in value:
            yield from _texts(key, each)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield str(value)
    else:
        raise SpecError(f"“{key}” cannot be {value}.", remedy="Write it in quotation marks.")


def _entries(table: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Yield the entries of a table; those of tables in it by both names, with a dot between."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from ((f"{name}.{inner}", each) for inner, each in _entries(value))
        else:
            yield name, value


def add_audit_many(add_parser: AddParser) -> None:
    """Add ``audit-many``."""
    parser = command(add_parser, "audit-many", _audit_many)
    parser.take_all("plan", "--out", "--overview", "--cluster", "--json")


def _audit_many(arguments: argparse.Namespace) -> int:
    """Run the audits that are due, write the overview, and return the exit code."""
    plan = read_plan(arguments.plan)
    folder = arguments.out or arguments.plan.with_name(f"{arguments.plan.stem}-audits")
    make_folder(folder)
    with _linked(arguments.cluster) as cluster, audits_bar(len(plan.entries)) as bar:
        reading, show, end = bar
        workers = partial(stoppable_worker, cluster)
        finished = arguments.overview or _run(
            plan, folder, workers, show, end, silent=bool(arguments.json)
        )
        known = standings(folder)
        standing = [(each.name, known.get(each.name, Standing())) for each in plan.entries]
        found, report = overview(plan.title, folder, standing, reading)
        paths = write_overview(found, report, folder)
    print_answer(
        arguments.json,
        lambda: found,
        lambda: "\n".join(("", *_table(found), "", *map(str, paths))),
        "audits",
    )
    failed = [each for each in found.audits if each.state == "failed"]
    for each in failed:
        complain(f"{each.name}: {each.reason}")
    if not finished:
        return INTERRUPTED
    return FAILED if failed else 0


@contextmanager
def _linked(cluster: str) -> Iterator[str | Link]:
    """Return a link to a cluster for all audits, which is ended after them; empty without one."""
    if not cluster:
        yield ""
        return
    with closing(Link(read_place(cluster))) as link:
        yield link


def _run(
    plan: Plan,
    folder: Path,
    workers: StoppableWorker,
    show: Callable[[str, float | None], Callable[[RunState], None]],
    end: Callable[[], None],
    *,
    silent: bool,
) -> bool:
    """Run what is due, with a line for each audit; return whether it was not stopped."""
    run_now: set[str] = set()

    def begin(entry: Entry) -> Callable[[RunState], None]:
        run_now.add(entry.name)
        return show(entry.name, entry.question.limit)

    def ended(entry: Entry, standing: Standing) -> None:
        end()
        if not silent:
            said = f"{standing.state} in {words.duration(standing.seconds)}"
            print_lines(
                f"{entry.name}: {said if entry.name in run_now else 'done earlier, unchanged'}"
            )

    return run_portfolio(plan.entries, folder, workers, begin, ended)


def _table(found: Overview) -> list[str]:
    rows = [(each.name, each.state, each.headline or "–") for each in found.audits]
    return table_lines(("audit", "state", "result"), rows)
