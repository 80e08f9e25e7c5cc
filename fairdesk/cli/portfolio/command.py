"""``fairdesk audit-many``: the audits of a plan, one after the other, and one overview."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

from fairdesk.app.outputs import make_folder
from fairdesk.app.portfolio.files import FILES, write_overview
from fairdesk.app.portfolio.overview import Overview, overview
from fairdesk.app.portfolio.running import (
    LEDGER,
    Entry,
    Standing,
    StoppableWorker,
    run_portfolio,
    standings,
)
from fairdesk.audit.store.records import RunState
from fairdesk.cli.parsing import AddParser, add_cluster, add_json
from fairdesk.cli.portfolio.plan import Plan, read_plan
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
from fairdesk.cluster.link import Link
from fairdesk.cluster.place import read_place
from fairdesk.wording import words

_EPILOG = f"""\
Every audit has a folder of its own, with the files of “fairdesk audit”. The overview is
{", ".join(FILES)}. An audit that is done is run again only if its entry in the plan, or a file
that it is about, has changed; {LEDGER} records that. One that fails does not end the others. The
exit code is 0 when all audits are done, 1 when one failed (a line on standard error names each
with the reason) or the plan cannot be read, 2 for an invalid command line, 130 when it was stopped
with Ctrl-C or SIGTERM: the results of the audit under way are kept, and the same command continues.
"""


def add_audit_many(add_parser: AddParser) -> None:
    """Add ``audit-many``."""
    parser = add_parser(
        "audit-many",
        help="audit many models, or many tables, of one plan",
        description="Run the audits of a plan in TOML one after the other, with one overview.",
        epilog=_EPILOG,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("plan", metavar="PLAN", type=Path, help="the plan (TOML)")
    add(
        "--out",
        metavar="FOLDER",
        type=Path,
        help="the folder for the results (default: the plan’s name with “-audits”, next to it)",
    )
    add(
        "--overview",
        action="store_true",
        help="run nothing; write the overview of the audits that there are",
    )
    add_cluster(parser)
    add_json(parser)
    parser.set_defaults(perform=_audit_many)


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
