"""Which runs answer each question of an audit with the best evidence, and what they say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import partial
from itertools import islice
from typing import Literal, Protocol, TypeAlias, TypeVar

from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.audit.catalogue.methods import METHODS, method_named, unrepeatable, why_off
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.pair import Pair
from fairdesk.audit.store.records import SHOWN, PairQuery, RunRecord, RunState
from fairdesk.audit.store.store import Store
from fairdesk.charts.shapes import Laid, Marked, Paper
from fairdesk.data.profiling.outcomes import favourable_rows
from fairdesk.data.table import Table
from fairdesk.groups.metrics.group_table import outcomes, references_of
from fairdesk.results.events import Metric
from fairdesk.results.groups import GroupLine, GroupTable
from fairdesk.results.individual import ExcessChange, Share
from fairdesk.results.proofs import Conditions, GroupRate, Proven, ProvenRates, exactly
from fairdesk.wording import comparisons, words
from fairdesk.wording import proofs as proof_words
from fairdesk.wording.decisions import name_of
from fairdesk.wording.groups.impact_ratio import worst_of
from fairdesk.wording.groups.tables import counted_sentence, rate_of
from fairdesk.wording.language import Evidence, Statement, say
from fairdesk.wording.pairs import NARROW
from fairdesk.wording.proofs import proven_fractions, proven_of
from fairdesk.wording.rules import combination_text


class Question(Enum):
    """What an auditor wants to know."""

    GROUPS = "groups"
    SHARE = "share"
    EXAMPLE = "example"
    CERTAIN = "certain"
    SUBGROUPS = "subgroups"
    MITIGATION = "mitigation"

    @property
    def title(self) -> str:
        """The question, in the language of the report."""
        return say(_TITLES[self.value])

    @property
    def missing(self) -> str:
        """What would answer it, a sentence."""
        return say(_MISSING[self.value])


_TITLES = {
    "groups": "How do outcomes differ between groups?",
    "share": "How often does the decision depend on a protected attribute?",
    "example": "What does such a case look like?",
    "certain": "What is proven beyond the data?",
    "subgroups": "Which subgroups stand out?",
    "mitigation": "What did the mitigation change?",
}
_MISSING = {
    "groups": "Not measured. “Group metrics” compares the selection rates of groups.",
    "share": "Not estimated. A random-sample estimate gives the share, with a confidence interval.",
    "example": "Not searched. A search finds pairs of instances that differ in protected "
    "attributes only and receive different decisions.",
    "certain": "Not certified. Certification shows for which part of the input domain the "
    "decision cannot change.",
    "subgroups": "Not searched. Subgroup discovery ranks subgroups by their gap to all others.",
    "mitigation": "No mitigation was run.",
}
#: The kinds of runs that answer each question.
ANSWERING: dict[Question, tuple[QuestionKind, ...]] = {
    Question.GROUPS: (QuestionKind.RATES,),
    Question.SHARE: (QuestionKind.SHARE,),
    Question.EXAMPLE: (QuestionKind.EXAMPLES,),
    Question.CERTAIN: (QuestionKind.PROOF,),
    Question.SUBGROUPS: (QuestionKind.GROUPS,),
    Question.MITIGATION: (QuestionKind.REPAIR,),
}


class Drawable(Protocol):
    """A chart of the kit."""

    def alt(self) -> str:
        """Return it in words."""

    def lay_out(self, paper: Paper, marked: Marked = ..., /) -> Laid:
        """Put everything in its place."""


@dataclass(frozen=True)
class PairsOf:
    """Pairs of a run: of one attribute alone, or this near to the data, unless ``None``."""

    run: int
    alone: str | None = None
    within: float | None = None


@dataclass(frozen=True)
class GroupOf:
    """A group that a run measured, by its values of these attributes."""

    run: int
    attributes: tuple[str, ...]
    values: tuple[str, ...]


@dataclass(frozen=True)
class SubgroupOf:
    """A subgroup that a run found, by the outcome and its rule."""

    run: int
    outcome: str
    conditions: Conditions


#: What a part of a chart stands for.
Part: TypeAlias = PairsOf | GroupOf | SubgroupOf


@dataclass(frozen=True)
class Answer:
    """An audit's answer to a question, of all its runs that answer it the best.

    Attributes
    ----------
    question : Question
        Which one.
    said : Statement
        Number, label and sentence; without a number where nothing is known yet, and then the
        sentence says what would tell it.
    details : tuple[str, ...]
        Further sentences.
    run : int, optional
        The run that it comes from.
    others : tuple[int, ...]
        Further runs that answer the same question.
    chart : Drawable, optional
        One small chart.
    parts : tuple[Part | None, ...]
        What each part of it stands for, by its key; ``None``, and beyond them: the whole answer.
    """

    question: Question
    said: Statement
    details: tuple[str, ...] = ()
    run: int | None = None
    others: tuple[int, ...] = ()
    chart: Drawable | None = None
    parts: tuple[Part | None, ...] = ()

    @property
    def known(self) -> bool:
        """Whether the audit answers the question at all."""
        return self.run is not None or bool(self.said.value)

    @property
    def evidence(self) -> Evidence:
        """What it rests on."""
        return self.said.evidence


#: So many pairs of each order are looked at.
_POOL = 200
#: The threshold that scores of decisions have. What is next to it a rounding could turn.
_THRESHOLD = 0.5


def clearest(store: Store, hidden: Callable[[Pair], bool] = lambda _pair: False) -> Pair | None:
    """Return the clearest discriminatory pair of an audit; ``None`` where there is none to show.

    Flagged pairs come first; then plausible ones (where that was computed); then those whose effect
    is not the rarer one of that change among the individuals in the data; then those of a data
    row; then those of which neither score is next to the decision threshold; then those in which
    one protected attribute alone changes; then those of which both are more typical; then those
    whose score nearer to the threshold is farther from it. Dismissed ones are never shown.

    Parameters
    ----------
    hidden : callable, optional
        Whether a pair must not be shown.
    """

    def first(query: PairQuery) -> list[Pair]:
        held = store.each_pair(query)
        return [*islice((each for each in held if _may_show(each, hidden)), _POOL)]

    pool = first(PairQuery(mark="flagged"))
    if not pool:
        pool = first(SHOWN)
        pool += first(PairQuery(order="difference", descending=True))
        # those of rows of the data, of which the plausible ones need not be among the first
        pool += first(PairQuery(order="plausible", descending=True, within=0.0))
    return min(pool, key=partial(_rank, store.spec, _directed(store)), default=None)


def opposite(
    store: Store, pair: Pair, hidden: Callable[[Pair], bool] = lambda _pair: False
) -> Pair | None:
    """Return the clearest pair of the same values with the decisions the other way round.

    Of a pair in which “White” is declined and “Black” approved it is one in which “Black” is
    declined and “White” approved. See `clearest` for ``hidden``. ``None`` where none is plausible.
    """
    spec, domain = store.spec, store.spec.domain
    changed = _changed(spec, pair)
    pool: list[Pair] = []
    for first, second, decided in (
        (pair.row, pair.partner, (pair.partner_class, pair.row_class)),
        (pair.partner, pair.row, (pair.row_class, pair.partner_class)),
    ):
        codes = tuple((domain.names[i], float(first[i]), float(second[i])) for i in changed)
        # few fit: they are sorted once found, which is quicker than to walk all in order
        query = PairQuery(order="typicality", descending=True, changed=codes, decided=decided)
        held = store.each_pair(query)
        alike = (each for each in held if _changed(spec, each) == changed)
        pool += islice((each for each in alike if _may_show(each, hidden)), _POOL)
    found = min(pool, key=partial(_rank, spec, {}), default=None)
    # one that is not plausible shows little of real decisions
    return None if found is not None and found.plausible in (0, False) else found


def _may_show(pair: Pair, hidden: Callable[[Pair], bool]) -> bool:
    return pair.mark != "dismissed" and not hidden(pair)


def _changed(spec: AuditSpec, pair: Pair) -> list[int]:
    """Return the places of the protected attributes that differ."""
    return [i for i in spec.domain.protected.tolist() if pair.row[i] != pair.partner[i]]


def _rank(
    spec: AuditSpec, directed: Mapping[frozenset[str], Share], pair: Pair
) -> tuple[float, ...]:
    """Return what pairs are ordered by, the clearest first."""
    away = margin_of(pair)
    typical = min(pair.typicality or 0.0, pair.partner_typicality or 0.0)
    changed, rare = len(_changed(spec, pair)), _is_rare(spec, directed, pair)
    real = pair.distance == 0
    return -(pair.plausible or 0), rare, not real, away < NARROW, changed, -typical, -away, pair.id


def _directed(store: Store) -> dict[frozenset[str], Share]:
    """Return the shares of the individuals in the data of whom it is counted who gains and loses.

    By the attributes that were changed; of the newest run with each.
    """
    return {
        frozenset(each.attributes): each
        for run in store.runs()
        for each in run.figures
        if isinstance(each, Share) and each.whom == "data" and each.gains is not None
    }


def _is_rare(spec: AuditSpec, directed: Mapping[frozenset[str], Share], pair: Pair) -> bool:
    """Return whether more individuals in the data have the opposite effect by the same change.

    Of all of them, or of those with the instance's own value of the one attribute that changes.
    """
    good = spec.mapping.favourable_class
    gains = int(pair.partner_class == good) - int(pair.row_class == good)
    changed = _changed(spec, pair)
    share = directed.get(frozenset(spec.domain.names[i] for i in changed))
    if share is None:
        return False
    own = [(up, down) for code, up, down in share.by_value if code == pair.row[changed[0]]]
    counts = [(share.gains or 0, share.losses or 0), *own]
    return any(gains * (up - down) < 0 for up, down in counts)


def margin_of(pair: Pair) -> float:
    """Return how far from the decision threshold the nearer of both scores is, 0 to 0.5.

    Scores of two decisions have their threshold at one half. Of more than two classes both may lie
    on one side of it: then half of what is between them.
    """
    scores = pair.row_score, pair.partner_score
    if (scores[0] > _THRESHOLD) == (scores[1] > _THRESHOLD):
        return abs(scores[0] - scores[1]) / 2
    return min(abs(each - _THRESHOLD) for each in scores)


@dataclass(frozen=True)
class Observed:
    """The outcomes in one column, by groups.

    Attributes
    ----------
    title, sentence : str
        What they are, for people.
    outcomes : tuple[GroupTable, ...]
        Per protected attribute, and of all together.
    """

    title: str
    sentence: str
    outcomes: tuple[GroupTable, ...]


def observed(
    spec: AuditSpec, table: Table, measured: Iterable[GroupTable] = ()
) -> tuple[Observed, ...]:
    """Count by group the recorded outcomes, and a column of the model's decisions.

    Parameters
    ----------
    measured : iterable of GroupTable
        Tables of the model's decisions that a run measured: groups are compared with the same
        reference groups here.
    """
    columns: list[tuple[Literal["label", "decisions"], str, str, str]] = []
    if spec.predictions:
        decided = spec.decisions[spec.mapping.favourable_class]
        columns.append(("decisions", say("Decisions in the data"), spec.predictions, decided))
    if spec.label != spec.predictions:
        title = say("Recorded outcomes in the data")
        columns.append(("label", title, spec.label, spec.favourable))
    found: list[Observed] = []
    for of, title, column, favourable in columns:
        good, known = favourable_rows(table, column, favourable)
        counted = outcomes(
            *(spec.domain, table, good, known),
            of=of,
            outcome=favourable,
            references=references_of(found[0].outcomes if found else measured),
        )
        said = [counted_sentence(spec, each) for each in counted[:1]]
        found.append(Observed(title, " ".join((*said, words.sampled(spec.data))).strip(), counted))
    return tuple(found)


#: The model of the data fits a group whose observed rate is at most so far outside its bounds.
_MISFIT = 0.02


@dataclass(frozen=True)
class BoundedRate:
    """The bounds of a group's selection rate, and the rate observed in the data rows.

    Attributes
    ----------
    group : str
        The group, in words.
    proven : GroupRate
        Its bounds in the population model.
    observed : float, optional
        Its rate of the model's favourable decision in the data rows, where that was measured.
    value : str
        The group's value alone.
    text : str
        The observed rate as the table of the data rows has it; a dash without one.
    """

    group: str
    proven: GroupRate
    observed: float | None
    value: str
    text: str

    @property
    def is_outside(self) -> bool:
        """Whether the observed rate lies clearly outside the bounds."""
        return self.observed is not None and not (
            self.proven.low - _MISFIT <= self.observed <= self.proven.high + _MISFIT
        )

    @property
    def is_shown(self) -> bool:
        """Whether the bounds are shown: not where the observed rate lies outside of them."""
        return self.observed is None or self.proven.low <= self.observed <= self.proven.high

    @property
    def ends(self) -> tuple[str, str]:
        """Both bounds, rounded outwards; dashes where they are not shown."""
        if not self.is_shown:
            return "–", "–"
        return (
            proof_words.percent_down(exactly(self.proven.low), 2),
            proof_words.percent_up(min(exactly(self.proven.high), Fraction(1)), 2),
        )


def decision_tables(runs: Sequence[RunRecord | RunState]) -> tuple[GroupTable, ...]:
    """Return the tables of the model's decisions by group, of the latest run that has some."""
    for run in reversed(runs):
        tables = (each for each in run.figures if isinstance(each, GroupTable))
        if found := tuple(each for each in tables if each.of == "decisions"):
            return found
    return ()


def bounded_rates(
    spec: AuditSpec, rates: ProvenRates, tables: Sequence[GroupTable]
) -> tuple[BoundedRate, ...]:
    """Set each group's bounds beside its rate in the data rows.

    A bin of numbers is not the one value whose rate is proven, so numbers have no observed rate.
    """
    attributes = {each.name: each for each in spec.domain.attributes}
    named = bool(attributes[rates.attribute].values)
    table = _of_attribute(rates, tables) if named else None
    lines = {} if table is None else {line.codes: line for line in table.lines if line.known}

    def bounded(proven: GroupRate, line: GroupLine | None) -> BoundedRate:
        group = combination_text(spec, (rates.attribute,), (proven.code,))
        value = name_of(attributes[rates.attribute], proven.code)
        if table is None or line is None:
            return BoundedRate(group, proven, None, value, "–")
        return BoundedRate(group, proven, line.rate, value, rate_of(table, line))

    return tuple(bounded(each, lines.get((each.code,))) for each in rates.groups)


def misfit_sentence(
    spec: AuditSpec, figures: Iterable[Metric], tables: Sequence[GroupTable]
) -> str:
    """Name the groups that the model of the data does not fit; empty where it fits all."""
    groups = [
        f"{words.quoted(rates.attribute)} = {each.value}"
        for rates in figures
        if isinstance(rates, ProvenRates)
        for each in bounded_rates(spec, rates, tables)
        if each.is_outside
    ]
    if not groups:
        return ""
    return say(
        "The model of the data does not fit {groups}: its shares are not shown.",
        groups=words.joined(groups),
    )


def without_misfit(
    spec: AuditSpec, figures: Sequence[Metric], tables: Sequence[GroupTable]
) -> tuple[Metric, ...]:
    """Return the figures without those of a population that does not fit the data.

    Its shares would be quoted as shares of real people.
    """
    if not misfit_sentence(spec, figures, tables):
        return tuple(figures)
    return tuple(each for each in figures if not (isinstance(each, Proven) and each.of == "people"))


def ratio_sentence(rates: ProvenRates, tables: Sequence[GroupTable]) -> str:
    """Say what is proven of an impact ratio, or that nothing follows, and what was counted."""
    said = proof_words.proven_ratio_sentence(rates)
    table = _of_attribute(rates, tables)
    worst = None if table is None else worst_of(table)
    if not proof_words.is_too_wide(rates) or worst is None or worst.impact_ratio is None:
        return said
    ratio = words.plain(worst.impact_ratio, 2)
    return f"{said} {say('Counted in the data rows: {ratio}.', ratio=ratio)}"


def _of_attribute(rates: ProvenRates, tables: Sequence[GroupTable]) -> GroupTable | None:
    return next((each for each in tables if each.attributes == (rates.attribute,)), None)


Run = RunRecord | RunState
_Run = TypeVar("_Run", bound=Run)
#: What shares are of, in the order in which they are shown: individuals before combinations.
_WHOM = ("data", "domain", "perturbed")


def all_off(spec: AuditSpec, kind: QuestionKind) -> tuple[str, ...]:
    """Say why no method answers a kind of question here; empty where some does."""
    methods = [each for each in METHODS.values() if each.answers is kind]
    reasons = [why_off(each, spec.model, spec.domain) for each in methods]
    if not all(reasons):
        return ()
    # one reason for all of them is given once
    shared = [unrepeatable(each, spec.model.repeatability) for each in methods]
    obstacle = spec.domain.obstacle or (shared[0] if all(shared) else "")
    return (say("Not available: {why}.", why=obstacle),) if obstacle else tuple(reasons)


def main_shares(figures: Iterable[Metric]) -> tuple[Share, ...]:
    """Return the shares of most protected attributes together, one of each kind of instances.

    Where none is of several, as after THEMIS left out what contains another, the greatest is taken.
    """
    found = [each for each in comparisons.shares_of(figures) if each.n_samples or each.unsupported]
    most = max((len(share.attributes) for share in found), default=0)
    found = sorted(
        (share for share in found if len(share.attributes) == most),
        key=lambda each: each.estimate,
    )
    best = {share.whom: share for share in found}
    return tuple(best[whom] for whom in _WHOM if whom in best)


def best_shares(runs: Sequence[Run]) -> tuple[tuple[Run, Share], ...]:
    """Return of the rows, the domain and perturbed rows the best share each, with its run.

    It is of most attributes together, then exhaustive rather than estimated, then from the larger
    sample, then of a run that estimates, which says more of shares than one that certifies, then
    newer. Runs that were kept near the data say nothing of the whole domain.
    """
    whole = [run for run in runs if not _near_data(run)]
    found = [(run, share) for run in whole for share in main_shares(run.figures)]
    most = max((len(share.attributes) for _, share in found), default=0)
    found = [each for each in found if len(each[1].attributes) == most]
    found.sort(key=_evidence_of_share)
    best = {share.whom: (run, share) for run, share in found}
    return tuple(best[whom] for whom in _WHOM if whom in best)


def searches(runs: Sequence[_Run]) -> tuple[_Run, ...]:
    """Return the searches for pairs: those that can be compared."""
    return tuple(run for run in runs if method_named(run.method).answers is QuestionKind.EXAMPLES)


def pairs_found(runs: Sequence[Run]) -> int:
    """Count the pairs that all runs found, whatever they looked for."""
    return sum(run.found for run in runs)


def pooled(runs: Sequence[Run]) -> str:
    """Say how many pairs all runs found together, where several did; else empty."""
    finding = [run for run in runs if run.found]
    if len(finding) < 2:
        return ""
    return say(
        "Runs {runs} together found {pairs} pairs. A pair found twice counts twice, one instance "
        "may be in many, and instances may be synthetic.",
        runs=words.joined([str(run.id) for run in finding]),
        pairs=words.number(pairs_found(finding)),
    )


def best_run(question: Question, runs: Sequence[Run]) -> Run | None:
    """Return the run with the best evidence on a question, never merely the newest.

    Of searches one near the data, whose pairs are realistic, then the one that found most; of
    estimates as `best_shares`, of certifications the one that left least undecided. Of all others
    the newest that measured something: it replaces those before.
    """
    tried = answering(runs, question)
    match question:
        case Question.EXAMPLE:
            return max(
                reversed(tried),
                key=lambda run: (bool(run.found) and _near_data(run), run.found, run.tried),
                default=None,
            )
        case Question.SHARE:
            shown = shown_shares(runs)
            if shown:
                return shown[0][0]
            repeated = [run for run in runs if measured_any(run, ExcessChange)]
            return next(reversed(repeated or tried), None)
        case Question.CERTAIN:
            proven = [(run, each) for run in tried if (each := proven_of(run.figures)) is not None]
            if proven:
                return min(reversed(proven), key=lambda each: proven_fractions(each[1])[2])[0]
    return next((run for run in reversed(tried) if run.figures), tried[-1] if tried else None)


def _evidence_of_share(found: tuple[Run, Share]) -> tuple[bool, bool, int, bool]:
    run, share = found
    estimated = method_named(run.method).answers is QuestionKind.SHARE
    return share.exact, share.exhaustive, share.n_samples, estimated


def _near_data(run: Run) -> bool:
    return isinstance(run, RunRecord) and (run.spec.max_distance is not None or run.spec.plausible)


def measured_any(run: Run, kind: type[Metric]) -> bool:
    """Return whether a run has a figure of a kind."""
    return any(isinstance(each, kind) for each in run.figures)


def shown_shares(runs: Sequence[Run]) -> list[tuple[Run, Share]]:
    """Return the best shares of rows and domain; those of perturbed rows if there are no others."""
    best = best_shares(runs)
    return [each for each in best if each[1].whom != "perturbed"] or list(best)


def answering(runs: Sequence[Run], question: Question) -> list[Run]:
    """Return the runs of the kinds that answer a question."""
    return [run for run in runs if method_named(run.method).answers in ANSWERING[question]]
