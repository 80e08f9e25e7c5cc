"""``fairdesk audit-many``: the audits of a plan, one after the other, and one overview."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

from fairdesk.app.outputs import make_folder
from fairdesk.app.portfolio.files import write_overview
from fairdesk.app.portfolio.overview import Overview, overview
from fairdesk.app.portfolio.running import (
    Entry,
    Standing,
    StoppableWorker,
    run_portfolio,
    standings,
)
from fairdesk.audit.store.records import RunState
from fairdesk.cli.parsing import AddParser, add_cluster, add_json, command
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


def add_audit_many(add_parser: AddParser) -> None:
    """Add ``audit-many``."""
    parser = command(add_parser, "audit-many", _audit_many)
    parser.take("plan", type=Path)
    parser.take("--out", type=Path)
    parser.take("--overview", action="store_true")
    add_cluster(parser)
    add_json(parser)


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
