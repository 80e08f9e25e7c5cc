"""The end of ``fairdesk audit``, and ``fairdesk show``: an audit's results on one screen."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

from fairdesk.app.outputs import AUDIT_FILE, REPORT
from fairdesk.cli.conditions import add_conditions, check
from fairdesk.cli.parsing import AddParser, Parser, command
from fairdesk.cli.summary import (
    Finished,
    change_notes,
    change_rows,
    changing_share,
    finished_in,
    group_rows,
    results,
    run_lines,
    term_rows,
    to_check,
)
from fairdesk.cli.terminal import print_screen, table_lines
from fairdesk.wording import words

#: The most lines, and characters in a line.
HEIGHT, WIDTH = 25, 80
#: What is selected by: a model, or whatever made a column of decisions.
DECIDED = ("by the model", "as decided")
#: Lines that are kept for what to check.
_CHECKS = 2
#: The most lines of one check.
_LONGEST = 3
#: What the signs beside a ratio mean.
_SIGNS = {
    "!": "! below 4/5 (0.80)",
    "~": "~ may be due to chance",
}
#: What a ratio is.
_RATIO = "ratio: to “ref.”"
#: Characters of a group's name.
_NAMED = 30


def screen(audit: Finished, *, everything: bool = False) -> str:
    """Return an audit's results on at most `HEIGHT` lines; with ``everything`` all, unshortened."""
    groups = group_rows(audit, everything=everything)
    checks = [*to_check(audit, everything=everything)]
    verdict = audit.verdict
    header, footer = _header(audit), [*_footer(audit, everything=everything)]
    if everything:
        tables = [*_groups(audit, groups)], [*_changes(audit)]
        runs = [*run_lines(audit, tabled=bool(groups))]
        header += _answer(verdict, HEIGHT)
        return "\n".join((*header, *_blocks(*tables, runs, _said("CHECK", checks), footer)))
    found = [*results(audit, counted=bool(change_rows(audit)))]
    # where there is little room: nothing of subgroups and, beside counted rows, of examples; then
    # shorter sentences, then fewer attributes
    left_out = ("SUBGROUP", "EXAMPLES") if change_rows(audit) else ("SUBGROUP",)
    n, main = len(groups), [each for each in found if each[0] not in left_out]
    fewer = (*((lines, n, 2, main) for lines in (3, 2, 1)), (1, 2, 2, main), (1, 1, 0, main))
    first = ((lines, n, answer, found) for lines in (3, 2) for answer in (3, 2))
    for lines, most, answer, kept in (*first, *fewer):
        told = [line for lead, text in kept for line in _said(lead, [text], lines)]
        tables = [*_groups(audit, groups, most)], [*_changes(audit, most + 1)]
        above = [*header, *_answer(verdict, answer), *_blocks(*tables, told)]
        room = HEIGHT - len(above) - len(footer) - (1 if told or not checks else 2)
        if room >= (len(_said("CHECK", checks, 2)) if kept is found else _CHECKS * bool(checks)):
            break
    said, lengths = _said("CHECK", checks, 1), [1] * len(checks)
    # the first ones in full, as far as there is room
    for place in range(len(checks)):
        while lengths[place] < _LONGEST and len(said) < room:
            lengths[place] += 1
            said = [
                line
                for i, (check, lines) in enumerate(zip(checks, lengths, strict=True))
                for line in _said("" if i else "CHECK", [check], lines)
            ]
    said = said if len(said) <= room else [*said[: room - 1], f"{'':10} … and more: -v"]
    return "\n".join((*above, *(said if told else _blocks(said)), *_blocks(footer)))


def _blocks(*blocks: Sequence[str]) -> list[str]:
    return [line for block in blocks if block for line in ("", *block)]


def _said(lead: str, texts: Sequence[str], lines: int | None = None) -> list[str]:
    """Set texts after a word in capitals, each on at most so many lines."""
    return [
        line
        for place, text in enumerate(texts)
        for line in textwrap.wrap(
            text,
            WIDTH,
            initial_indent=f"{'' if place else lead:<10} ",
            subsequent_indent=" " * 11,
            max_lines=lines,
            placeholder=" …",
            break_on_hyphens=False,
        )
    ]


def _header(audit: Finished) -> list[str]:
    spec = audit.spec
    model = Path(spec.predictions or spec.model.path).name
    said = f"{spec.title}, {words.counted(spec.data.rows, spec.person)}"
    right = ""
    if audit.agreed is not None:
        accuracy, majority = (
            words.percent(each, 1) for each in (audit.agreed.accuracy, audit.agreed.majority)
        )
        right = f": {accuracy} decided as recorded (same for all: {majority})"
    named = "" if model in spec.title else f", {model}"
    shown = (f"{said}{named}{right}", f"{said}{right}", f"{said}{right.partition(' (')[0]}")
    about = next((each for each in shown if len(each) <= WIDTH), shown[-1])
    return textwrap.wrap(about, WIDTH)


def _answer(said: str, most: int) -> list[str]:
    """Set the answer of the board page, as many of its sentences as fit on so many lines."""
    while said:
        lines = textwrap.wrap(said, WIDTH)
        if len(lines) <= most:
            return lines
        said = said[:-1].rpartition(". ")[0]
        said += "." * bool(said)
    return []


def _groups(
    audit: Finished, groups: Sequence[list[tuple[str, ...]]], most: int | None = None
) -> Iterator[str]:
    """Set the selection rates of the first attributes as a table, with what its signs mean."""
    if not groups:
        return
    rows = []
    wide = max(len(words.shortened(each[0][0], _NAMED // 2)) for each in groups)
    for each in groups[:most]:
        for place, (name, group, *cells) in enumerate(each):
            named = f"{words.shortened('' if place else name, _NAMED // 2):<{wide}}"
            short = group if most is None else words.shortened(group, _NAMED - wide)
            rows.append((f"  {named}  {short}", *cells))
    decided = DECIDED[bool(audit.spec.predictions)]
    heads = (f"SELECTED (“{audit.outcome}”)", decided, "ratio  ", "in the records", "ratio  ")
    shown = [i for i in range(5) if any(row[i].strip() for row in rows)]
    kept = [[row[i] for i in shown] for row in rows]
    yield from table_lines([heads[i] for i in shown], kept, right=range(1, 5))
    signs = [cell[-1:] for row in kept for cell in row]
    others = "" if most is None else "; other groups: -v"
    shown_signs = (said for sign, said in _SIGNS.items() if sign in signs)
    yield f"  {'  '.join((_RATIO + others, *shown_signs))}"
    if left := groups[most or len(groups) :]:
        yield f"  and {words.counted(len(left), 'more attribute')}: -v"


def _changes(audit: Finished, most: int | None = None) -> Iterator[str]:
    """Set for how many the decision changes, by what is changed; without ``most`` everything."""
    rows, terms = change_rows(audit), term_rows(audit)
    if rows:
        names = words.protected_names(audit.spec.domain)
        changed = words.listed(names, "or") if len(names) < 4 else "protected attribute"
        share, head = changing_share(audit), _changing(audit.spec.person, changed)
        if share is not None and share.exhaustive:
            n, every = words.number(share.n_samples), share.n_samples + share.unsupported
            head += (
                f" ({n} of {words.number(every)} comparable)" if share.unsupported else f" (of {n})"
            )
        yield from textwrap.wrap(head, WIDTH, subsequent_indent="  ")
        # the last row is of all attributes together
        kept = rows if most is None or len(rows) <= most else [*rows[: most - 1], rows[-1]]
        yield from _aligned(kept)
        if most is None:
            yield from (f"  {note}" for note in change_notes(audit) if note)
    if terms:
        yield _changing("text", "identity term")
        yield from _aligned(terms)


def _changing(person: str, changed: str) -> str:
    return f"SAME {person.upper()}, OTHER {changed.upper()}: decision changes"


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    return table_lines(("",) * 4, [(f"  {row[0]}", *row[1:]) for row in rows], (1, 2))[1:]


def _footer(audit: Finished, *, everything: bool) -> Iterator[str]:
    """Name the report and the other files, and say what the audit took."""
    files = dict(audit.files)
    folder = _near(str(Path(files[AUDIT_FILE]).parent))
    if everything:
        yield from (f"Left out: {why}" for why in audit.left_out)
    if report := files.pop(REPORT, ""):
        said = f"Report   {_near(report)}"
        draft = "" if audit.status == "Final" else " (draft: required fields to fill in)"
        yield f"{said}{draft if len(said + draft) <= WIDTH else draft and ' (draft)'}"
    methods = words.counted(len(audit.runs), "method")
    took = words.duration(sum(run.elapsed for run in audit.runs))
    done, more = f"Done     {methods} ran {took}", f"fairdesk show {folder} -v"
    if everything:
        yield f"Files    {folder}: {', '.join(files)}"
    elif len(together := f"{done}   more: {more}") <= WIDTH:
        done = together
    else:
        yield f"More     {more}"
    yield done


def _near(path: str) -> str:
    """Write a path as seen from the working folder, where it lies in it."""
    near, here = Path(path), Path.cwd()
    return str(near.relative_to(here)) if near.is_relative_to(here) else path


def add_results(parser: Parser) -> None:
    """Add how much of the results is printed, and by which of them a command fails."""
    much = parser.add_mutually_exclusive_group()
    parser.take("-v", "--verbose", within=much, action="store_true")
    parser.take("-q", "--quiet", within=much, action="store_true")
    add_conditions(parser)


def show(audit: Finished, arguments: argparse.Namespace) -> int:
    """Print an audit's results unless others are, and return the code of its conditions."""
    if not (arguments.quiet or arguments.json):
        print_screen(screen(audit, everything=arguments.verbose))
    return check(audit, arguments.conditions)


def add_show(add_parser: AddParser) -> None:
    """Add ``show``."""
    parser = command(add_parser, "show", _show)
    parser.take("audit", type=Path)
    add_results(parser)
    parser.set_defaults(json=None)


def _show(arguments: argparse.Namespace) -> int:
    """Print the results of an audit; gives the exit code."""
    path: Path = arguments.audit
    return show(finished_in(path / AUDIT_FILE if path.is_dir() else path), arguments)
