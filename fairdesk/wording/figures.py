"""What a run measured, in sentences and tables: shares with their intervals, gaps, likenesses.

The first interval told is the one for who looks once, at the end; the other holds for who watches
and stops when they like. A share is of people who could be, never of a search's findings.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf

from fairdesk.audit.catalogue.method import ABOUT_GROUPS, QuestionKind, Repeats, stage
from fairdesk.audit.catalogue.methods import method_named
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.records import RunRecord, RunState
from fairdesk.individual.realism.pair_plausibility import Reference
from fairdesk.repeatability import Repeatability
from fairdesk.results.events import Metric
from fairdesk.results.individual import (
    ExcessChange,
    RandomBaseline,
    SearchPhase,
    Share,
)
from fairdesk.results.proofs import Proven, exactly
from fairdesk.wording import comparisons, words
from fairdesk.wording import mitigation as mitigation_words
from fairdesk.wording.groups import sentences as group_words
from fairdesk.wording.language import Evidence, Statement, say, say_many, unmeasured
from fairdesk.wording.proofs import (
    NOT_MEANT,
    least_share,
    main_proof,
    neighbour_sentence,
    neighbourhood_counts,
    neighbourhood_statement,
    neighbourhoods_of,
    percent_down,
    percent_up,
    population_note,
    proven_of,
    proven_statement,
    remainder_statement,
    standing_of,
)
from fairdesk.wording.words import digits_of, interval, plural, shown_percent

#: What a phase of a search for groups counts, where that is neither rule sets nor people.
_STEPS = {
    "data": "{done} of {total} data rows queried",
    "rules": "{done} of {total} candidate subgroups counted",
    "fitting": "{done} of {total} subgroups fitted",
    "reading": "{done} of {total} texts read",
    "": "{done} of {total} instances tested",
    "sets": "{done} of {total} subgroups",
}
#: What a share of instances is called, by what they are drawn from; of the data's rows by the
#: auditor's own word.
_SHARES = {
    "domain": "Share of the input domain whose decision changes",
    "perturbed": "Share of perturbed data rows whose decision changes",
}
#: What instances are drawn from, by itself.
_INSTANCES = {
    "domain": "Input domain",
    "people": "Population (a model of the data)",
    "perturbed": "Perturbed data rows",
}
#: What the phases of a search are called in a table.
_PHASES = {
    "seeds": "Starting instances",
    "directed": "Directed search",
    "undirected": "Undirected search",
}
#: Heads of what a table says of a phase.
PHASE_HEADER = ("Instances tested", "Pairs found", "Share", "Paths")
#: From this share of the data rows on one decimal is enough.
_RARE = 0.01
#: Fewer plausible pairs are few: a table shows so many first.
FEW_PAIRS = 500


def share_of_domain(figures: Iterable[Metric]) -> Share | None:
    """Return the share of all possible people, all protected attributes together; if measured."""
    shares = [each for each in figures if isinstance(each, Share) and each.whom == "domain"]
    return max(shares, key=lambda share: len(share.attributes), default=None)


def share_of_data(figures: Iterable[Metric]) -> Share | None:
    """Give the share of the people in the data, all protected attributes together; if measured."""
    shares = [each for each in comparisons.shares_of(figures) if each.whom == "data"]
    return max(shares, key=lambda share: len(share.attributes), default=None)


def _counts(share: Share) -> bool:
    """Return whether instances were drawn, though none may have a comparison."""
    return bool(share.n_samples or share.unsupported)


def share_label(spec: AuditSpec, whom: str) -> str:
    """Name the share of the domain, of the data, or of perturbed rows whose decision changes."""
    if whom == "data":
        return say("{People} whose decision changes", People=words.capital(plural(spec.person)))
    return _SHARES[whom]


def share_statement(
    spec: AuditSpec, share: Share, beside: Sequence[Metric] = (), *, parts: bool = True
) -> Statement:
    """Say for which share the decision changes, with the fixed-sample interval.

    Where a companion is neither confirmed nor refused there is no answer yet: of the data rows both
    figures are given, and a share of none of anything is not called that.

    Parameters
    ----------
    beside : sequence of Metric
        What the same run measured: the other figure, and what each attribute alone changes.
    parts : bool
        Whether to say also what each attribute alone changes, and which data rows were not tested.
    """
    values = {"whom": _whom(share, plural(spec.person)), **words.whom(spec.person)}
    values["what"] = comparisons.changed(spec, share.attributes, rows=share.whom == "data")
    is_open = comparisons.is_open(spec, share)
    if share.whom == "data" and is_open:
        return comparisons.open_statement(spec, share, beside)
    if not share.n_samples:
        return (
            comparisons.none_statement(spec, share)
            if share.unsupported
            else unmeasured(
                say("No instances were tested, so nothing is known about {whom}.", **values)
            )
        )
    values["n"] = words.number(share.n_samples)
    digits = digits_of(share.low, share.high)
    counted = words.percent(share.hits, share.n_samples, _exact_digits(share))
    value = counted if share.hits else words.percent_of("0")
    if share.exact and share.whom == "domain" and 10_000 * share.hits >= share.n_samples:
        value = percent_down(Fraction(share.hits, share.n_samples), 2)
    if share.exhaustive and share.wavered:
        sentence = say_many(
            share.wavered,
            "If we change {what}, the decision changed for {hits} of {counted} ({share}), each "
            "queried once. This is not exact: {n} row[|s] received a different output when "
            "[it|they] [was|were] re-queried.",
            share=value,
            hits=words.number(share.hits),
            counted=_counted(share, spec.person),
            what=values["what"],
        )
    elif share.exhaustive:
        sentence = say(
            "If we change {what}, the decision changes{how} for {hits} of {counted} ({share}). All "
            "were tested.",
            how=" with at least one other value" if share.whom == "data" else "",
            share=value,
            hits=words.number(share.hits),
            counted=_counted(share, spec.person),
            **values,
        )
    elif not share.hits:
        most = say("at most {share}", share=percent_up(exactly(share.high), digits))
        value = words.capital(most)
        sentence = say(
            "If we change {what}, the decision changes for none of {n} instances drawn at random. "
            "With {confidence} confidence, it changes for {most} of {whom}.",
            most=most,
            confidence=words.percent(share.confidence, 1.0, 0),
            **values,
        )
    else:
        value = shown_percent(share.estimate, digits)
        sentence = say(
            "If we change {what}, the decision changes for {share} ({interval}) of {whom}. {hits} "
            "of {n} drawn at random changed.",
            share=value,
            hits=words.number(share.hits),
            interval=interval(share.low, share.high, share.confidence, digits),
            **values,
        )
    evidence: Evidence = "estimated"
    if share.exact:
        evidence = "observed" if share.whom == "data" else "proven"
    label, value = share_label(spec, share.whom), words.capital(value)
    if is_open and not share.hits:
        value = "Not known yet"
    said = Statement(evidence, label, value, sentence, _basis(spec, share, beside))
    if share.whom == "data":
        return said.with_more(
            directed_sentence(share, beside),
            comparisons.alone_sentence(spec, share, beside) if parts else "",
            excluded_sentence(spec, share) if parts else "",
        )
    if is_open:
        said = said.with_more(words.open_sentence(spec.domain, share.attributes))
    if share.whom != "domain":
        return said
    people = plural(spec.person)
    return said.with_more(
        say(
            "The input domain consists of combinations of values, not of real {people}.",
            people=people,
        )
    )


def _basis(spec: AuditSpec, share: Share, beside: Iterable[Metric] = ()) -> str:
    """Say in a few words on how many instances a share rests, and how they were chosen."""
    if share.exact:
        counted = say(
            "{hits} of {counted}; all were tested.",
            hits=words.number(share.hits),
            counted=_counted(share, spec.person),
        )
        alone = comparisons.alone_sentence(spec, share, beside)
        parts = counted, directed_sentence(share, beside), alone
        return " ".join(filter(None, parts))
    if share.exhaustive:
        return ""
    digits = digits_of(share.low, share.high)
    return say(
        "{interval}; from a random sample of {n}.",
        interval=interval(share.low, share.high, share.confidence, digits),
        n=words.number(share.n_samples),
    )


def directed_sentence(share: Share, beside: Iterable[Metric] = ()) -> str:
    """Say for how many the decision becomes favourable, or not; empty if not counted."""
    said = comparisons.lost_and_gained(share, beside)
    if not said:
        return ""
    rest = share.hits - (share.gains or 0) - (share.losses or 0)
    others = rest and say_many(
        rest,
        "For {n} other[|s], both decisions are unfavourable.",
    )
    return f"{said} {others}" if others else said


def directed_by_value(spec: AuditSpec, shares: Iterable[Share]) -> tuple[str, ...]:
    """Say what changing each protected attribute alone does, by value."""
    return tuple(
        say(
            "With another {name} it changes for {hits} of {n}: {gains} would gain it, {losses} "
            "would lose it.",
            name=comparisons.with_companions(spec, *share.attributes),
            hits=words.number(share.hits),
            n=words.number(share.n_samples),
            losses=words.number(share.losses or 0),
            gains=words.number(share.gains or 0),
        )
        for share in shares
        if share.whom == "data"
        and len(share.attributes) == 1
        and share.by_value
        and comparisons.is_answered(spec, share)
    )


def excluded_sentence(spec: AuditSpec, share: Share) -> str:
    """Say which rows of the data a share is not of, and why; empty where it is of all."""
    missing = " ".join(
        filter(
            None,
            (
                comparisons.untested_sentence(spec, share.attributes),
                comparisons.unsupported_sentence(spec, share),
            ),
        )
    )
    rest = spec.data.rows - share.n_samples - share.unsupported
    if rest <= 0 or not share.exhaustive:
        return missing
    untested = say(
        "Not tested: {n} of the {rows} rows (incomplete or not allowed).",
        n=words.number(rest),
        rows=words.number(spec.data.rows),
    )
    return f"{missing} {untested}".lstrip()


def share_line(spec: AuditSpec, share: Share, beside: Iterable[Metric] = ()) -> str:
    """Say a share in a line: its name, the number, and the fixed-sample interval."""
    return say(
        "{label}: {share} ({known}).",
        label=share_label(spec, share.whom),
        share=short_share(share, beside),
        known=share_known(share),
    )


def share_known(share: Share) -> str:
    """Say in a few words how a share is known: all were tested, or with its interval."""
    if share.exhaustive:
        return "all tested" if share.exact else "not exact"
    digits = digits_of(share.low, share.high)
    return interval(share.low, share.high, share.confidence, digits)


def _exact_digits(share: Share) -> int:
    """Choose the decimals of a share that was counted: of data rows one, of few of them two."""
    return 1 if share.whom == "data" and share.estimate >= _RARE else 2


def short_share(share: Share, beside: Iterable[Metric] = ()) -> str:
    """Write a share alone: ``8.38 %``; in words where that is not known."""
    digits = digits_of(share.low, share.high)
    if share.exhaustive:
        digits = _exact_digits(share)
    return comparisons.not_known(share, beside) or shown_percent(share.estimate, digits)


def share_cell(share: Share, beside: Iterable[Metric] = ()) -> str:
    """Write a share with its interval for a bar or a cell: ``3.8 % (3.7 to 3.9)``."""
    value = short_share(share, beside)
    if share.exhaustive or comparisons.not_known(share, beside):
        return value
    digits = digits_of(share.low, share.high)
    return f"{value} ({100 * share.low:.{digits}f} to {100 * share.high:.{digits}f})"


def instances(spec: AuditSpec, whom: str) -> str:
    """Name what is counted: the rows of the data, the input domain, or perturbed rows."""
    if whom == "data":
        return say("{People} in the data", People=words.capital(plural(spec.person)))
    return _INSTANCES[whom]


def repeatability_sentence(found: Repeatability) -> str:
    """Say that the model's answers changed when rows were queried again; empty where none did."""
    if found.holds:
        return ""
    changed = say_many(
        found.rows,
        "The model is not repeatable: of {n} row[|s] that [was|were] re-queried, {changed} "
        "received a different score and {decisions} a different decision.",
        changed=words.number(found.changed),
        decisions=words.number(found.decisions),
    )
    why = (
        "Its output for a row depends on the other rows that are queried with it."
        if found.batch
        else "The same row does not always receive the same output."
    )
    return f"{changed} {why}"


def changed_answers(run: RunRecord | RunState) -> str:
    """Say that answers changed during a run that came to its results all the same; else empty."""
    found = next((each for each in run.figures if isinstance(each, Repeatability)), None)
    if found is None or run.state == "failed":
        return ""
    said = repeatability_sentence(found)
    if method_named(run.method).repeats is Repeats.INDEPENDENT:
        return said
    valid = "The results of this run are valid for the outputs received at that time."
    return f"{said} {valid}"


def excess_statement(spec: AuditSpec, figure: ExcessChange) -> Statement:
    """Say for how many the probability of the favourable decision changes."""
    people = plural(spec.person)
    values = {
        "whom": "the input domain"
        if figure.whom == "domain"
        else say("the {people} in the data", people=people),
        "when": words.when_change(figure.attributes),
        "between": words.percent(figure.between, 1.0, 1),
        "again": words.percent(figure.again, 1.0, 1),
        "n": words.number(figure.n_samples),
        "confidence": words.percent(figure.confidence, 1.0, 0),
    }
    if figure.low > 0:
        least = least_share(figure.low)
        sentence = say(
            "For {least} of {whom}, the probability of the favourable decision changes {when} "
            "({confidence} confidence). Decisions differed in {between} of the queries of a "
            "counterfactual pair and in {again} of repeated queries of the same row ({n} pairs, "
            "each row queried twice).",
            least=least,
            **values,
        )
    else:
        least = say("at least {share}", share=words.percent_of("0"))
        sentence = say(
            "No change beyond the model’s own randomness was established: the probability of "
            "the favourable decision changes {when} for {least} of {whom}. Decisions differed "
            "in {between} of the queries of a counterfactual pair and in {again} of repeated "
            "queries of the same row ({n} pairs, each row queried twice; {confidence} "
            "confidence).",
            least=least,
            **values,
        )
    label = "Share whose probability of the favourable decision changes"
    return Statement("estimated", label, words.capital(least), sentence)


def anytime_sentence(share: Share) -> str:
    """Say the interval for who watches; empty where it is the only one, or there is none."""
    once = (share.low, share.high) == (share.anytime_low, share.anytime_high)
    if share.exhaustive or not share.n_samples or once:
        return ""
    digits = digits_of(share.anytime_low, share.anytime_high)
    held = interval(share.anytime_low, share.anytime_high, share.confidence, digits)
    return say(
        "Anytime-valid interval: {interval}. It holds also when sampling stops early.",
        interval=held,
    )


def quote_sentence(spec: AuditSpec, shares: Iterable[Share]) -> str:
    """Say which of several shares to quote, and why; empty where there is no choice.

    Parameters
    ----------
    spec : AuditSpec
        The audit plan: its word for a person.
    """
    held = [each for each in shares if each.n_samples]
    people = plural(spec.person)
    if len({each.whom for each in held}) < 2 or not any(each.whom == "data" for each in held):
        return ""
    return say(
        "Quote the share of the {people} in the data: only it is about real {people}.",
        people=people,
    )


def perturbed_sentence(spec: AuditSpec, shares: Iterable[Share]) -> str:
    """Say what perturbed data rows are, and what not; empty where no share is of them."""
    if all(each.whom != "perturbed" for each in shares):
        return ""
    return say(
        "Perturbed data rows are copies of data rows with other values slightly changed, not real "
        "{people}.",
        people=plural(spec.person),
    )


def phases_of(figures: Sequence[Metric]) -> tuple[SearchPhase, ...]:
    """Return the counts of each phase of a search, where there are any."""
    return tuple(each for each in figures if isinstance(each, SearchPhase))


def phase_name(phase: str) -> str:
    """Return the name of a search's phase, for a table."""
    return _PHASES[phase] if phase in _PHASES else words.capital(stage(phase))


def phase_cells(phase: SearchPhase | None) -> tuple[str, ...]:
    """Write the counts of a phase for the columns of `PHASE_HEADER`; empty where it is unknown."""
    if phase is None:
        return ("",) * len(PHASE_HEADER)
    return (
        words.number(phase.tried),
        words.number(phase.found),
        words.percent(phase.found, phase.tried, 1) if phase.tried else "",
        words.number(phase.paths) if phase.all_paths else "",
    )


def tells_of_people(run: RunRecord) -> bool:
    """Whether a run tells how people are treated, and not only how well a search works."""
    return method_named(run.spec.method).answers is not QuestionKind.DIAGNOSIS


def searches(run: RunRecord) -> bool:
    """Whether a run looks for examples."""
    return method_named(run.spec.method).answers is QuestionKind.EXAMPLES


def repeats_rows(run: RunRecord) -> bool:
    """Whether a run compared changes of decisions with those of the same row queried again."""
    return any(isinstance(each, ExcessChange) for each in run.figures)


def alone_sentences(spec: AuditSpec, run: RunRecord) -> tuple[str, ...]:
    """Say of a search how often each protected attribute is enough by itself.

    Empty for a run that measures how common that is: a share of what it came upon beside a share
    of people would be taken for one.
    """
    return words.alone_sentences(spec, run) if searches(run) else ()


def near_sentence(
    run: RunRecord | RunState, reference: Reference | None = None, *, sampling: bool = True
) -> str:
    """Say that only people near a real one were asked about, where that is so; else empty.

    Then a share is of those, and not of everybody who could be. Likewise of plausible instances:
    what was compared of these is known of a ``reference``; nearness was in any case. With
    ``sampling`` also how a search compares with random sampling.
    """
    if not isinstance(run, RunRecord):
        return ""
    plausible = run.spec.plausible and (
        "Only plausible instances were tested: no farther from a data row than data rows are from "
        "one another."
        if reference is None or reference.by_distance
        else "Only plausible instances were tested: no stranger than real rows."
    )
    compared = sampling_sentence(run) if sampling else ""
    parts = (plausible, _few_sentence(run), compared, _distance_sentence(run))
    return " ".join(each for each in parts if each)


def _few_sentence(run: RunRecord) -> str:
    """Say how many plausible pairs there are where a search that ended found few."""
    searched = run.spec.plausible and run.state == "done" and run.tried
    if not searched or run.found >= FEW_PAIRS:
        return ""
    if not run.found:
        return (
            "No plausible pair was found within the searched region. Counterfactuals that are not "
            "plausible were not compared; a search that is not limited to plausible pairs compares "
            "them."
        )
    return say_many(
        run.found,
        "{n} plausible pair[|s] [was|were] found within the searched region.",
    )


@dataclass(frozen=True, slots=True)
class ComparedWithSampling:
    """How many queries a plausible pair takes, in a search and in random sampling.

    Attributes
    ----------
    own : float
        In the search, what came before it left out.
    random : float, optional
        In random sampling; ``None`` where that found none.
    low, high : float
        The 95 % interval of that; infinite where none was found.
    n_samples, found : int
        Instances that were drawn for that, and plausible pairs among them.
    """

    own: float
    random: float | None
    low: float
    high: float
    n_samples: int
    found: int


def compared_with_sampling(run: RunRecord) -> ComparedWithSampling | None:
    """Compare a search with random sampling; ``None`` where that was not measured, or no pair."""
    sampled = next((each for each in run.figures if isinstance(each, RandomBaseline)), None)
    if sampled is None or not run.found:
        return None
    each = sampled.queries / sampled.n_samples
    return ComparedWithSampling(
        max(0, run.queries - sampled.before) / run.found,
        sampled.queries / sampled.found if sampled.found else None,
        each / sampled.high,
        each / sampled.low if sampled.low else inf,
        sampled.n_samples,
        sampled.found,
    )


def sampling_sentence(run: RunRecord) -> str:
    """Say whether a search finds plausible pairs with fewer queries than random sampling does."""
    compared = compared_with_sampling(run)
    if compared is None:
        return ""
    if compared.random is None:
        return say(
            "Random sampling of plausible instances found no pair among {drawn}.",
            drawn=words.number(compared.n_samples),
        )
    if compared.own < compared.low:
        return "The search needs fewer queries than random sampling of plausible instances."
    if compared.own > compared.high:
        return "The search needs more queries than random sampling of plausible instances."
    return (
        "The search and random sampling of plausible instances do not differ significantly in "
        "queries."
    )


def _distance_sentence(run: RunRecord) -> str:
    max_distance = run.spec.max_distance
    if max_distance is None:
        return ""
    return say(
        "Only instances within Gower distance {distance} of a data row were tested (0: "
        "identical; 1: different in every attribute). The results cover those instances "
        "only.",
        distance=words.short(max_distance),
    )


def uncertified(share: Share) -> str:
    """Say that a share was estimated where it was to be proven, and why; empty if it is exact."""
    if share.exhaustive:
        return ""
    if not share.opaque:
        return (
            "This is statistical, not certified: the model’s internal structure is not available."
        )
    return say(
        "This is statistical, not certified: the model’s internal structure is not available "
        "({why}).",
        why=share.opaque,
    )


def headline(
    spec: AuditSpec, run: RunRecord | RunState, reference: Reference | None = None
) -> Statement:
    """Say what came of a run.

    What a search found for one that gives examples, with what is known of the share where nothing
    was found or everybody was checked; the share for one that measures; what is proven for one
    that proves, and beside it, never in it, what is estimated of the rest; before and after for a
    repair.
    """
    share = share_of_domain(run.figures)
    match method_named(run.method).answers:
        case QuestionKind.SHARE:
            said = unmeasured(no_result(run))
            real = share_of_data(run.figures)
            # people before combinations
            if (leading := real if real is not None and _counts(real) else share) is not None:
                said = share_statement(spec, leading, run.figures)
            elif excess := [each for each in run.figures if isinstance(each, ExcessChange)]:
                said = excess_statement(spec, excess[-1])
        case QuestionKind.PROOF:
            # whether the population fits the data depends on other runs
            shown = [each for each in run.figures if not _of_people(each)]
            said, beside = certified_statement(spec, run, shown)
            said = said.with_more(*beside)
        case QuestionKind.GROUPS | QuestionKind.RATES | QuestionKind.DIAGNOSIS:
            said = group_words.headline(spec, run.figures) or unmeasured(no_result(run))
        case QuestionKind.REPAIR:
            said = mitigation_words.headline(spec, run.figures)
        case QuestionKind.EXAMPLES:
            said = words.headline(spec, run, ending_too=False)
            if share is not None:
                said = said.with_more(share_statement(spec, share, run.figures).sentence)
    near = near_sentence(run, reference)
    return said.with_more(near, changed_answers(run), words.ending(run))


def certified_statement(
    spec: AuditSpec, run: RunRecord | RunState, shown: Sequence[Metric]
) -> tuple[Statement, tuple[str, ...]]:
    """Say what a run that certifies shows, and what belongs beside it, never in it.

    Parameters
    ----------
    shown : sequence of Metric
        Those of its figures that are shown, see `fairdesk.answers.without_misfit`.
    """
    if (around := neighbourhoods_of(shown)) is not None:
        return neighbourhood_statement(spec, around), (
            neighbour_sentence(around),
            NOT_MEANT,
        )
    if (proven := main_proof(shown)) is not None:
        rest = remainder_statement(proven)
        beside = [rest.sentence] if rest else []
        if proven.of == "people":
            beside = [population_note(spec)]
        return proven_statement(proven), tuple(beside)
    share = share_of_domain(shown)
    if share is None or not share.n_samples:
        return unmeasured(no_result(run)), ()
    return share_statement(spec, share, shown).with_more(uncertified(share)), ()


def _of_people(figure: Metric) -> bool:
    return isinstance(figure, Proven) and figure.of == "people"


def no_result(run: RunRecord | RunState) -> str:
    """Say that a run has no result, or none so far."""
    if run.state in ("running", "paused"):
        return "No result yet."
    return "The run ended without a result."


def effort(run: RunRecord | RunState) -> str:
    """Say what a run spent: what it looked at, rows sent, time."""
    proven = proven_of(run.figures) or neighbourhoods_of(run.figures)
    spent = f"{words.queries(run.queries)}, {words.duration(run.elapsed)}"
    looked = ""
    if proven is not None:
        looked = say_many(proven.boxes, "{n} region[|s] examined")
    elif _about_groups(run):
        looked = group_words.looked_at(run.figures) or words.tested(run.tried)
    elif _repairs(run):
        looked = mitigation_words.effort_text(run.figures)
    else:
        return words.effort(run)
    return ", ".join(filter(None, (looked, spent)))


def standing(run: RunRecord | RunState) -> str:
    """Say in a few words how a run stands: what it found, or what it has proven."""
    if (proven := main_proof(run.figures)) is not None:
        return standing_of(proven)
    if (around := neighbourhoods_of(run.figures)) is not None:
        return neighbourhood_counts(around)
    if _about_groups(run):
        return _standing_of_groups(run)
    if _repairs(run):
        return mitigation_words.standing(run.figures) or "no result yet"
    return say_many(run.found, "{n} pair[|s] in {tested}", tested=words.tested(run.tried))


def _about_groups(run: RunRecord | RunState) -> bool:
    return method_named(run.method).answers in ABOUT_GROUPS


def _repairs(run: RunRecord | RunState) -> bool:
    return method_named(run.method).answers is QuestionKind.REPAIR


def _steps(run: RunState) -> str:
    """Say how far a running search for groups is."""
    phase = run.phase
    if phase not in _STEPS:
        phase = "sets" if method_named(run.method).reads else ""
    return say(_STEPS[phase], done=words.number(run.done), total=words.number(run.total))


def _standing_of_groups(run: RunRecord | RunState) -> str:
    """Say how many rule sets were examined, or people asked, and how far the widest are apart."""
    looked = group_words.looked_at(run.figures)
    if isinstance(run, RunState) and run.state in ("running", "paused") and run.total:
        looked = _steps(run)
    best = group_words.best_so_far(run.figures)
    return ", ".join(filter(None, (looked or words.tested(run.tried), best)))


def _counted(share: Share, person: str) -> str:
    """Write how many a share is of: ``624 combinations in the input domain``."""
    match share.whom:
        case "domain":
            return say_many(
                share.n_samples,
                "{n} combination[|s] in the input domain",
            )
        case "data":
            people = words.counted(share.n_samples, person)
            if share.unsupported:
                return say("the {people} in the data that can be compared", people=people)
            return say("{people} in the data", people=people)
        case "perturbed":
            return say_many(share.n_samples, "{n} perturbed data row[|s]")


def _whom(share: Share, people: str) -> str:
    match share.whom:
        case "domain":
            return "the input domain"
        case "data":
            return say("the {people} in the data", people=people)
        case "perturbed":
            return "the perturbed data rows"
