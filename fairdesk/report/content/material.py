"""What the report is made from, read once from the audit file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, islice, zip_longest

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.answers import Observed, clearest, decision_tables, margin_of, observed, opposite
from fairdesk.audit.catalogue.method import ABOUT_GROUPS, QuestionKind
from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.runs.plausibility import PlausibleShare, plausible_share
from fairdesk.audit.store.pair import Pair
from fairdesk.audit.store.records import SHOWN as SHOWN_ORDER
from fairdesk.audit.store.records import Choice, Details, LogEntry, PairQuery, RunRecord
from fairdesk.audit.store.store import Store
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Table
from fairdesk.document.blocks import Fact, Text
from fairdesk.individual.realism.pair_plausibility import Reference
from fairdesk.report.content.fields import facts, fields_of, filled_in
from fairdesk.report.content.passages import TEMPLATES
from fairdesk.report.content.redaction import Shown
from fairdesk.report.content.status import Status
from fairdesk.results.groups import GroupTable
from fairdesk.wording import words
from fairdesk.wording.language import say
from fairdesk.wording.pairs import NARROW

#: So many pairs are shown in full, besides the flagged ones.
SHOWN = 10
#: And never more than so many flagged ones.
MOST_FLAGGED = 40
#: So many more are listed where the auditor asks for it, in a line each.
MORE = 50
#: From so many that are plausible, and with the widest difference, those to show are picked.
_POOL = 500


@dataclass
class Gathered:
    """What was counted.

    Attributes
    ----------
    changes : dict[int, list[Counter[tuple[float, float]]]]
        Per run, per protected attribute: the findings by (value of the one who gets the
        favourable decision, value of the other), where the two differ in it.
    marks : Counter[str]
        The findings by the auditor's mark.
    shown : list[Pair]
        The pairs to show: flagged ones, then plausible ones in their order, those next to the
        decision threshold last, then those with the greatest difference of scores, near copies of
        one shown before only when there are no others; none that was dismissed, or that the report
        is not to show.
    clearest : Pair, optional
        The one that the summary shows; the first of those to show.
    reverse : Pair, optional
        The same change with the opposite effect; the second of them.
    plausible : PlausibleShare, optional
        How many of all pairs are plausible; ``None`` where none was compared with the data.
    reference : Reference, optional
        What that is compared with.
    """

    changes: dict[int, list[Counter[tuple[float, float]]]]
    marks: Counter[str]
    shown: list[Pair] = field(default_factory=list)
    more: list[Pair] = field(default_factory=list)
    clearest: Pair | None = None
    reverse: Pair | None = None
    plausible: PlausibleShare | None = None
    reference: Reference | None = None


def difference(pair: Pair) -> float:
    """Return how far apart the scores of a pair are."""
    return abs(pair.row_score - pair.partner_score)


def gather(store: Store, shown: Shown | None = None) -> Gathered:
    """Count all findings, and pick those to show, in memory that does not grow with their number.

    Parameters
    ----------
    shown : Shown, optional
        What may be told of single people; everything, where it is left out.
    """
    domain = store.spec.domain
    hides = () if shown is None else (shown.hides,)
    found = Gathered(store.changes(), store.marks())
    found.clearest = clearest(store, *hides)
    if found.clearest is not None:
        found.reverse = opposite(store, found.clearest, *hides)
    first = [each for each in (found.clearest, found.reverse) if each is not None]
    flagged = _allowed(store, PairQuery(mark="flagged"), shown)
    widest_first = sorted(flagged, key=difference, reverse=True)
    told = {pair.id for pair in first}
    found.shown = [*first, *(pair for pair in widest_first if pair.id not in told)][:MOST_FLAGGED]
    plausible = _first(store, msgspec.structs.replace(SHOWN_ORDER, plausible=True), shown)
    pool = by_turns(sorted(plausible, key=lambda pair: margin_of(pair) < NARROW), domain)
    held = {pair.id for pair in pool}
    widest = _first(store, PairQuery(order="difference", descending=True), shown)
    pool += [pair for pair in widest if pair.id not in held]
    _fill(found.shown, pool, domain)
    found.reference = store.reference()
    if found.reference is not None:
        found.plausible = plausible_share(store, domain.people(store.table()))
    shown_ids = {pair.id for pair in found.shown}
    found.more = [pair for pair in pool if pair.id not in shown_ids][:MORE]
    return found


def _allowed(store: Store, query: PairQuery, shown: Shown | None) -> Iterator[Pair]:
    """Yield the pairs of a query that may be shown."""
    return (pair for pair in store.each_pair(query) if shown is None or not shown.hides(pair))


def _first(store: Store, query: PairQuery, shown: Shown | None) -> list[Pair]:
    """Return the first pairs of an order that may be shown and have no mark."""
    query = msgspec.structs.replace(query, mark="")
    return [*islice(_allowed(store, query, shown), _POOL)]


def by_turns(pool: list[Pair], domain: Domain) -> list[Pair]:
    """Return pairs by turns of what changes: else those of one attribute alone may come first."""
    protected = domain.protected.tolist()
    held: dict[tuple[int, ...], list[Pair]] = {}
    for pair in pool:
        changed = tuple(i for i in protected if pair.row[i] != pair.partner[i])
        held.setdefault(changed, []).append(pair)
    turns = chain.from_iterable(zip_longest(*held.values()))
    return [pair for pair in turns if pair is not None]


def _fill(shown: list[Pair], pool: list[Pair], domain: Domain) -> None:
    """Add pairs of the pool until `SHOWN` are shown: unlike ones first, then near copies.

    A search that walks from person to person finds many who differ in one step of one attribute;
    ten of them would tell the reader one thing ten times.
    """
    others = domain.others
    for least in (max(1, len(others) // 4), 1):
        for pair in pool:
            if len(shown) >= SHOWN:
                return
            if all((pair.row[others] != one.row[others]).sum() >= least for one in shown):
                shown.append(pair)


#: The sections on rows with protected attributes.
_OF_GROUPS = ("outcomes", "errors", "results", "pairs", "compared", "certification")
#: In which section a part stands that has none of its own.
_WITHIN = {"decisions": "model", "compared": "results", "pairs": "results", "formulas": "method"}


@dataclass(frozen=True)
class Made:
    """A file of a model that a repair trained: of which trial, how it was checked, what it is."""

    trial: int
    name: str
    remark: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Material:
    """All that the sections are made from.

    Attributes
    ----------
    spec : AuditSpec
        The question.
    table : Table
        The audited data.
    runs : list[RunRecord]
        In the order in which they began.
    progress : dict[int, NDArray]
        Per run ``(m, 4)``: elapsed seconds, tried, found, queries.
    gathered : Gathered
        What was counted over all findings.
    log : list[LogEntry]
        The auditor's decisions.
    made : dict[int, tuple[Made, ...]]
        Per repair the files of the models that it trained.
    details : Details
        What the auditor filled in.
    choice : Choice
        How the report is wanted.
    standing : Status
        Whether it is final.
    """

    spec: AuditSpec
    table: Table
    runs: list[RunRecord]
    progress: dict[int, NDArray[np.float64]]
    gathered: Gathered
    log: list[LogEntry]
    made: dict[int, tuple[Made, ...]] = field(default_factory=dict)
    details: Details = field(default_factory=Details)
    choice: Choice = field(default_factory=Choice)
    standing: Status = field(default_factory=lambda: Status("Draft"))

    @cached_property
    def shown(self) -> Shown:
        """What may be told of single people."""
        return Shown(self.choice.redaction, self.spec, self.table)

    def filled_in(self, key: str) -> str:
        """Return what the auditor filled in under a key; empty when nothing was."""
        return filled_in(self.details, key)

    def filled(self, group: str) -> tuple[Fact, ...]:
        """Give what the auditor filled in under a heading of the form; in a draft what is to be."""
        fields = [one for one in fields_of(self.choice.template) if one.group == group]
        return facts(fields, self.choice.template, self.details, final=self.final)

    @property
    def final(self) -> bool:
        """Whether the auditor has marked this report as final, and nothing changed since."""
        return self.standing.word == "Final"

    @property
    def people(self) -> str:
        """The auditor's word for persons."""
        return words.plural(self.spec.person)

    @property
    def proofs(self) -> list[RunRecord]:
        """The runs that prove."""
        return self._answering(QuestionKind.PROOF)

    @property
    def subtle(self) -> list[RunRecord]:
        """The runs that look for groups which are decided about otherwise."""
        return self._answering(QuestionKind.GROUPS)

    @property
    def searches(self) -> list[RunRecord]:
        """The runs about single people that prove and repair nothing."""
        others = (QuestionKind.PROOF, QuestionKind.REPAIR, *ABOUT_GROUPS)
        return [run for run in self.runs if METHODS[run.spec.method].answers not in others]

    @property
    def repairs(self) -> list[RunRecord]:
        """The runs that repair the model."""
        return self._answering(QuestionKind.REPAIR)

    @cached_property
    def measured(self) -> RunRecord | None:
        """The latest run that measured how the groups fare, if one did."""
        rated = [run for run in self._answering(QuestionKind.RATES) if group_tables(run)]
        return rated[-1] if rated else None

    @cached_property
    def group_tables(self) -> tuple[GroupTable, ...]:
        """What that run measured."""
        return () if self.measured is None else group_tables(self.measured)

    @property
    def estimated(self) -> str:
        """What the runs about subgroups can show: of identity terms, or of rows of the data."""
        of_texts = bool(self.subtle) and all(run.spec.text for run in self.subtle)
        return words.ESTIMATED_TERMS if of_texts else words.ESTIMATED_GROUPS

    @cached_property
    def one_by_one(self) -> bool:
        """Whether single people were compared, or could have been as far as anything was run."""
        return not self.spec.predictions and (
            bool(self.searches) or bool(self.proofs) or not self.runs
        )

    @cached_property
    def observed(self) -> tuple[Observed, ...]:
        """The outcomes of groups in the data, as far as they may be told."""
        return tuple(
            replace(seen, outcomes=tuple(map(self.shown.table, seen.outcomes)))
            for seen in observed(self.spec, self.table, decision_tables(self.runs))
        )

    @cached_property
    def judged(self) -> bool:
        """Whether decisions were measured by labels."""
        return any(line.positives is not None for each in self.group_tables for line in each.lines)

    @property
    def parts_done(self) -> tuple[tuple[str, bool], ...]:
        """The parts of a full audit that say something of the model, each with whether it ran."""
        rows = bool(self.spec.domain.protected.size)
        parts = (
            ("group metrics", self.measured is not None, bool(self.spec.domain.grouping)),
            ("an estimate or a search", self.one_by_one and bool(self.runs), rows),
            ("certification", bool(self.proofs), rows),
            ("subgroup discovery", bool(self.subtle), True),
        )
        return tuple((name, done) for name, done, possible in parts if possible)

    @cached_property
    def chapters(self) -> tuple[str, ...]:
        """The keys of the report's sections, in their order; see `fairdesk.report.document`.

        A report has sections on what was run; the limitations name what was not.
        """
        there = {
            "compared": not self.spec.predictions,
            "method": not self.spec.predictions or bool(self.runs),
            "errors": self.judged,
            "results": self.one_by_one and bool(self.runs),
            "subtle": bool(self.subtle),
            "certification": bool(self.proofs),
            "pairs": self.one_by_one,
            "mitigation": bool(self.repairs),
        }
        never = () if self.spec.domain.grouping else _OF_GROUPS
        return tuple(
            key
            for key in TEMPLATES[self.choice.template].chapters
            if there.get(key, True) and key not in (*self.choice.left_out, *never)
        )

    def number(self, chapter: str) -> int:
        """Return the number of a section, or of that which holds it; 0 where there is neither."""
        key = chapter if chapter in self.chapters else _WITHIN.get(chapter, "")
        return self.chapters.index(key) + 1 if key in self.chapters else 0

    def chapter_of(self, run: RunRecord) -> str:
        """Return the key of the section with a run's results."""
        match METHODS[run.spec.method].answers:
            case QuestionKind.RATES:
                return "outcomes"
            case QuestionKind.GROUPS:
                return "subtle"
            case QuestionKind.PROOF:
                return "certification"
            case QuestionKind.REPAIR:
                return "mitigation"
        return "results"

    def run_name(self, run: RunRecord) -> str:
        """Name a run by its method; numbered where there are several runs."""
        return self._numbered(METHODS[run.spec.method].title, run)

    def short_name(self, run: RunRecord) -> str:
        """Name a run where there is little room: in legends and lists."""
        return self._numbered(METHODS[run.spec.method].short_title, run)

    def _numbered(self, title: str, run: RunRecord) -> str:
        if len(self.runs) < 2:
            return title
        return say("{method}, run {n}", method=title, n=str(run.id))

    def place(self, run: RunRecord) -> str:
        """Return the number of the place with a run's results; empty where the report has none."""
        chapter = self.chapter_of(run)
        number = self.number(chapter)
        if not number or chapter == "outcomes":
            return str(number or "")
        runs = {
            "certification": self.proofs,
            "subtle": self.subtle,
            "mitigation": self.repairs,
        }.get(chapter, self.searches)
        return f"{number}.{runs.index(run) + 1}"

    def see(self, chapter: str) -> str:
        """Refer to a section in brackets, with a space before; empty where there is none."""
        number = self.number(chapter)
        return f" (section {number})" if number else ""

    def _answering(self, answers: QuestionKind) -> list[RunRecord]:
        return [run for run in self.runs if METHODS[run.spec.method].answers is answers]


def not_run(what: str) -> Text:
    """Say in one line what was not run, and what it would have told."""
    return Text(what, lead="Not run:")


def proves(run: RunRecord) -> bool:
    """Whether a run proves something, and does not search."""
    return METHODS[run.spec.method].answers is QuestionKind.PROOF


def about_groups(run: RunRecord) -> bool:
    """Whether a run is about groups of people, and not about one person after the other."""
    return METHODS[run.spec.method].answers in ABOUT_GROUPS


def group_tables(run: RunRecord) -> tuple[GroupTable, ...]:
    """Return the tables of groups that a run measured."""
    figures: Iterable[object] = run.figures
    return tuple(each for each in figures if isinstance(each, GroupTable))
