"""Figures of an audit computed again: subgroups, shares, and what covers all rows of the data."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.plan.inputs import SearchInputs
from fairdesk.audit.plan.spec import Budget, RunSpec
from fairdesk.audit.runs.run import run as run_again
from fairdesk.audit.shards.dealing import merging_of
from fairdesk.audit.store.records import RunRecord
from fairdesk.audit.store.store import Store
from fairdesk.audit.verify.pairs import TOLERANCE
from fairdesk.audit.verify.tally import Tally, untried
from fairdesk.audit.worker.client import Worker
from fairdesk.certify.proof.certificate import Header
from fairdesk.certify.proof.verify.statements import Check
from fairdesk.data.domain.attributes import encode
from fairdesk.errors import FairDeskError
from fairdesk.groups.tabular.rules import members
from fairdesk.groups.tabular.sampling import starting
from fairdesk.groups.testsgd import MOST_ROWS
from fairdesk.individual.engine.sampling import one_per_fixed
from fairdesk.individual.shares.tally import clopper_pearson
from fairdesk.models.model import favourable_scores, labels
from fairdesk.results.events import Metric, Rows, Scores, ShardRange, Tallied
from fairdesk.results.individual import Share
from fairdesk.results.proofs import NeighbourhoodCounts, Proven, ProvenRates
from fairdesk.results.subgroups import RuleSet

#: What hangs on a clock, and so is never the same twice: of which figures.
_TIMES = frozenset({"seconds"})
#: Of what is proven, its course too is told by the clock.
_BY_THE_CLOCK = frozenset({"course"})
#: Shares of rows are sums of float64, or of float32 scores that another machine gives otherwise.
_CLOSE = 1e-6
#: People who are drawn to see whether a share of everybody can be, and how unlikely it is that
#: chance alone refutes a true one.
_DRAWN, _CHANCE = 20_000, 1e-4
#: Members of similar sets that are asked about at once.
_AT_ONCE = 200_000

RULE_SETS = "Subgroups: their members in the data, and the rates of the members"

Ask = Callable[[Rows], Scores]


def differences(
    then: tuple[Metric, ...], now: tuple[Metric, ...], close: float = _CLOSE
) -> list[str]:
    """Compare figures field by field; what is measured by the clock is left out.

    Parameters
    ----------
    then, now : tuple[Metric, ...]
        In the same order.
    close : float
        Numbers with a fraction may differ by so much, as a part of the greater of them and 1;
        counts and texts by nothing.

    Returns
    -------
    list[str]
        A sentence for each field that differs.
    """
    messages = []
    if len(then) != len(now):
        messages.append(f"The number of figures was {len(then):,} and is now {len(now):,}.")
    for place, (first, second) in enumerate(zip(then, now, strict=False), start=1):
        name = type(first).__name__
        if type(first) is not type(second):
            messages.append(f"Figure {place} was {name}, and is {type(second).__name__}.")
            continue
        # what stands in a table of everything else proven is no time
        left_out = _TIMES | (_BY_THE_CLOCK if name == "Proven" else frozenset())
        fields = _differing(
            msgspec.to_builtins(first), msgspec.to_builtins(second), close, left_out
        )
        messages += [f"Figure {place} ({name}), {field}." for field in fields]
    return messages


def _differing(
    then: object, now: object, close: float, left_out: frozenset[str], path: str = ""
) -> Iterator[str]:
    if isinstance(then, dict) and isinstance(now, dict):
        for key in sorted({*then, *now} - left_out):
            yield from _differing(
                then.get(key), now.get(key), close, left_out, f"{path} {key}".strip()
            )
    elif isinstance(then, list | tuple) and isinstance(now, list | tuple):
        if len(then) != len(now):
            yield f"{path}: {len(then)} entries then, {len(now)} now"
            return
        for place, (first, second) in enumerate(zip(then, now, strict=True), start=1):
            yield from _differing(first, second, close, left_out, f"{path} {place}".strip())
    elif not _equal(then, now, close):
        yield f"{path}: {_shown(then)} then, {_shown(now)} now"


def _equal(then: object, now: object, close: float) -> bool:
    if isinstance(then, float) and isinstance(now, float):
        return then == now or abs(then - now) <= close * max(1.0, abs(then), abs(now))
    return type(then) is type(now) and then == now


def _shown(value: object) -> str:
    text = "nothing" if value is None else f"{value!r}" if isinstance(value, float) else f"{value}"
    return text if len(text) <= 80 else f"{text[:79]}…"


def check_rule_sets(store: Store, ask: Ask) -> Check:
    """Count again who of the data is in each rule set, and how they and the others fare.

    What is said of samples rests on chance, and is repeated by `fairdesk.audit.verify.reproducing`
    only.
    """
    tally = Tally(RULE_SETS)
    spec, table = store.spec, store.table()
    sought = [
        (run, [each for each in run.figures if isinstance(each, RuleSet)]) for run in store.runs()
    ]
    sought = [(run, sets) for run, sets in sought if sets]
    domain = spec.domain
    places = domain.places(table)
    rows, fine = starting(domain, domain.encode(table)[places])
    rows, groups = rows[fine], encode(domain.grouping, table)[places][fine]
    answers: Scores | None = None
    for run, sets in sought:
        if run.spec.text or run.spec.method != "testsgd" or run.state != "done":
            tally.leave(
                f"The subgroups of run {run.id} are repeated only by “reproduce”.", len(sets)
            )
            continue
        if run.answers_changed:
            tally.leave(
                f"Run {run.id}: the model returned different outputs for the same rows.", len(sets)
            )
            continue
        if len(rows) > MOST_ROWS:
            tally.leave(
                f"With more than {MOST_ROWS:,} rows, run {run.id} queried only a part of them.",
                len(sets),
            )
            continue
        if answers is None:
            answers = np.concatenate(
                [ask(rows[at : at + _AT_ONCE]) for at in range(0, len(rows), _AT_ONCE)]
            )
        for place, each in enumerate(sets, start=1):
            inside = members(domain.grouping, groups, each.conditions)
            now = _observed(
                each, inside, _values(each, answers, spec.decisions, spec.mapping.favourable_class)
            )
            stated = (each.rows, each.support, each.data_in, each.data_out)
            tally.compare(
                all(map(_agree, stated, now)),
                f"Subgroup {place} of run {run.id}: recorded {_four(stated)}; recalculated "
                f"{_four(now)}.",
            )
    return tally.check()


def _values(
    rule: RuleSet, answers: Scores, decisions: tuple[str, ...], favourable: int
) -> NDArray[np.float64]:
    """Return what is counted of each row: whether it gets the decision, or its score."""
    if rule.outcome:
        return np.asarray(labels(answers) == decisions.index(rule.outcome), dtype=np.float64)
    return np.asarray(np.clip(favourable_scores(answers, favourable), 0.0, 1.0))


_Observed = tuple[float, float, float | None, float | None]


def _observed(_rule: RuleSet, inside: NDArray[np.bool_], values: NDArray[np.float64]) -> _Observed:
    """Count who is in a rule set: rows, support, and the shares in it and outside."""
    count = int(inside.sum())
    shares = [float(values[side].mean()) if side.any() else None for side in (inside, ~inside)]
    return count, count / len(inside), shares[0], shares[1]


def _agree(stated: float | None, now: float | None) -> bool:
    # a mean score is counted in 65,536ths
    return stated == now if stated is None or now is None else abs(stated - now) <= 2 * TOLERANCE


def _four(observed: _Observed) -> str:
    rows, support, *shares = observed
    inside, outside = ("none" if each is None else f"{each:.6g}" for each in shares)
    return f"{rows:,} rows (share {support:.6g}), rate {inside} inside and {outside} outside"


def check_exact_shares(
    store: Store, ask: Ask, people: Rows, rng: np.random.Generator
) -> Iterator[Check]:
    """See whether shares that are told as exact can be: by people drawn at random."""
    tally = Tally("Exact shares of the input domain, compared with random samples")
    shares = [
        (run, each)
        for run in store.runs()
        for each in run.figures
        if isinstance(each, Share) and each.exact and each.whom == "domain"
    ]
    if not shares:
        return
    domain = store.spec.domain
    usual = [(run, share) for run, share in shares if run.spec.max_distance is None]
    if len(usual) < len(shares):
        tally.leave(
            "A share that covers only instances near the data is repeated only by “reproduce”."
        )
    if usual:
        real, _ = domain.admit(people)
        drawn = domain.sample(rng, _DRAWN, one_per_fixed(domain, real) if len(real) else None)
        hits = _hits(store, ask, drawn)
        low, high = (float(end) for end in clopper_pearson(hits, _DRAWN, 1 - _CHANCE))
        for run, share in usual:
            tally.compare(
                low <= share.estimate <= high and share.hits <= share.n_samples,
                f"Run {run.id} records {share.hits:,} of {share.n_samples:,} instances; of "
                f"{_DRAWN:,} drawn at random it was {hits:,}, which indicates "
                f"{low:.4g} to {high:.4g}.",
            )
    yield tally.check()


def _hits(store: Store, ask: Ask, drawn: Rows) -> int:
    """Count who of people is discriminated against."""
    domain, hits = store.spec.domain, 0
    size = max(1, _AT_ONCE // len(domain.combinations))
    for start in range(0, len(drawn), size):
        similar, compared = domain.members(drawn[start : start + size])
        flat, allowed = similar.reshape(-1, similar.shape[2]), compared.reshape(-1)
        answers = np.full(len(flat), -1, dtype=np.intp)
        answers[allowed] = labels(ask(flat[allowed]))
        predicted_class = answers.reshape(similar.shape[:2])
        most = predicted_class.max(axis=1, keepdims=True)
        hits += int(((predicted_class != most) & (predicted_class >= 0)).any(axis=1).sum())
    return hits


def check_proven(store: Store, run_id: int, header: Header) -> Check:
    """Check that a certificate speaks of this audit, and that what is told of it is in it."""
    tally = Tally(
        f"Run {run_id}: the proof certificate belongs to this audit and matches its figures"
    )
    spec = store.spec
    tally.compare(
        header.model.sha256 == spec.model.sha256, "It covers a different model from the audit."
    )
    tally.compare(header.mapping == spec.mapping, "It uses a different input mapping.")
    tally.compare(
        header.domain == spec.domain, "It covers a different input domain from the audit."
    )
    (run,) = (run for run in store.runs() if run.id == run_id)
    # what is told of one attribute by itself is another question, which no certificate is kept of
    protected = tuple(spec.domain.names[i] for i in spec.domain.protected.tolist())
    rates = tuple(each for each in run.figures if isinstance(each, ProvenRates))
    tally.compare(
        rates == header.rates,
        "The selection rates in the audit differ from those in the proof certificate.",
    )
    for each in run.figures:
        if isinstance(each, Proven) and each.of == "people":
            shares = header.people_certified_share, header.people_falsified_share
            tally.compare(
                (each.certified, each.falsified) == shares,
                "The shares of the population in the audit differ from those in the proof "
                "certificate.",
            )
        if not (isinstance(each, Proven) and each.of == "domain" and each.attributes == protected):
            continue
        stated = (each.total, each.certified_people, each.falsified_people)
        held = (header.total, header.certified, header.falsified)
        tally.compare(
            stated == held,
            f"The audit records {stated[1]} certified and {stated[2]} falsified of {stated[0]} "
            f"combinations; the proof certificate {held[1]} and {held[2]} of {held[0]}.",
        )
        tally.compare(
            (each.certified, each.falsified) == (header.certified_share, header.falsified_share),
            "The shares in the audit differ from those in the proof certificate.",
        )
    return tally.check()


GROUPS = "Group tables, recalculated"
SHARES = "Shares of the data rows whose decision changes, recounted"
NEIGHBOURS = "Data rows certified with their neighbours, recounted"
#: What is counted again, by the method.
_RECOUNTED = {"groups": GROUPS, "estimate": SHARES, "neighbourhoods": NEIGHBOURS}
#: The stage of an estimate that tests the rows of the data, and a margin that ends the others.
_ROWS, _WIDEST = "data", 0.5


def of_all_rows(run: RunRecord) -> list[Metric]:
    """Return the figures of a run that cover all rows of the data, and so are counted again."""
    if run.spec.method not in _RECOUNTED:
        return []
    shares = [each for each in run.figures if isinstance(each, Share)]
    if not all(each.exhaustive for each in shares if each.whom == _ROWS):
        return []  # some rows only were counted
    return [each for each in run.figures if not isinstance(each, Share) or each.whom == _ROWS]


def check_rows(store: Store, worker: Worker | None, seconds: float, reason: str) -> Iterator[Check]:
    """Count again what covers all rows of the data, and compare it field by field.

    Parameters
    ----------
    worker : Worker, optional
        With the audit's model open, where it has one; ``None``: nothing can be counted.
    seconds : float
        A time limit for what is proven about each row; 0: it is left out.
    reason : str
        Why nothing can be counted.
    """
    tallies: dict[str, Tally] = {}
    for run in store.runs():
        method = run.spec.method
        recorded = of_all_rows(run)
        if not recorded:
            continue
        tally = tallies.setdefault(_RECOUNTED[method], Tally(_RECOUNTED[method]))
        if worker is None:
            continue
        if run.answers_changed:
            tally.leave(
                f"Run {run.id}: the model returned different outputs for the same rows in it."
            )
        elif method == "groups" and run.state != "done":
            tally.leave(f"Run {run.id} was not completed: its tables are partial.")
        elif method == "neighbourhoods" and not seconds:
            tally.leave("Nothing was proven again, as the time limit is 0.")
        else:
            try:
                now = _counted(store, worker, run.spec, seconds)
            except FairDeskError as error:
                tally.leave(f"Run {run.id} could not be repeated: {error}")
                continue
            _compare(tally, run, recorded, now)
    for name, tally in tallies.items():
        yield tally.check() if worker is not None else untried(name, reason)


def _counted(store: Store, worker: Worker, run: RunSpec, seconds: float) -> Sequence[Metric]:
    """Return the figures of a method that cover all rows, as they are now.

    Raises
    ------
    FairDeskError
        When they cannot be counted.
    """
    options = dict(run.options)
    if run.method == "neighbourhoods":
        run = msgspec.structs.replace(run, options=options | {"keep": 0, "seconds": seconds})
    elif run.method == "estimate" and store.spec.data.sample is None:
        return _shares(store, worker, run)
    elif run.method == "estimate":
        # all rows are read after the samples were drawn, which are not compared
        run = msgspec.structs.replace(run, options=options | {"trials": 1, "margin": _WIDEST})
    run = msgspec.structs.replace(run, budget=Budget(), shards=0)
    with (
        tempfile.TemporaryDirectory(prefix="fairdesk-") as folder,
        Store.create(Path(folder) / "again.fairdesk", store.spec, store.table()) as again,
    ):
        *_, ended = run_again(worker, again, run)
        if ended.state != "done" or ended.message:
            raise FairDeskError(ended.message or "It was stopped.")
        return of_all_rows(again.runs()[-1])


def _shares(store: Store, worker: Worker, run: RunSpec) -> Sequence[Metric]:
    """Count the rows of the data in the guest, add the counts up here, and draw nothing."""
    spec = store.spec
    inputs = SearchInputs(spec.domain.people(store.table()))
    merging = merging_of(spec, run, inputs)
    stages = merging.wanted.stage.split(",") if merging.wanted is not None else []
    # a unit has more than one row
    part = ShardRange(0, len(stages) * (len(inputs.people) + 1), _ROWS)
    run = msgspec.structs.replace(run, budget=Budget(), shards=0, shard=part)
    with closing(worker.search(spec.mapping, spec.domain, inputs, run)) as counting:
        for event in counting:
            if isinstance(event, Tallied):
                merging.add(event)
            if merging.wanted is None or _ROWS not in merging.wanted.stage.split(","):
                break
    measured = merging.measured()
    return () if measured is None else measured.figures


def _compare(
    tally: Tally, run: RunRecord, recorded: Sequence[Metric], now: Sequence[Metric]
) -> None:
    """Compare figures with those of now; a row that only one of two decided is no mismatch."""
    then, again = list(recorded), list(now)
    for place, (first, second) in enumerate(zip(then, again, strict=False)):
        if isinstance(first, NeighbourhoodCounts) and isinstance(second, NeighbourhoodCounts):
            then[place], again[place] = _without_course(first), _without_course(second)
            if (open_ := max(first.undecided, second.undecided)) and not _contradict(first, second):
                tally.leave(
                    f"Run {run.id}: {first.undecided:,} rows were undecided then, and "
                    f"{second.undecided:,} now: what is decided of the others agrees.",
                    open_,
                )
                again[place] = then[place]
    wrong = differences(tuple(then), tuple(again))
    tally.agree(max(len(then) - len(wrong), 0))
    for message in wrong:
        tally.differ(f"Run {run.id}: {message}")


def _without_course(figure: NeighbourhoodCounts) -> NeighbourhoodCounts:
    """Leave out how many boxes were looked at: the speed of the computer decides that, too."""
    return msgspec.structs.replace(figure, boxes=0)


def _contradict(then: NeighbourhoodCounts, now: NeighbourhoodCounts) -> bool:
    """Return whether more rows are decided one way or the other than can be."""
    both = then.certified + now.falsified, now.certified + then.falsified
    # notes say how many were left undecided
    asked = [msgspec.structs.replace(each, **_COUNTS, notes=()) for each in (then, now)]
    return asked[0] != asked[1] or max(both) > then.rows


#: Fields of a figure that depend on how much was decided.
_COUNTS = dict.fromkeys(
    ("certified", "falsified", "undecided", "flipped", "boxes", "seconds", "margin"), 0
)
