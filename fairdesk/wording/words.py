"""The sentences that the window, the command line and the report share; how numbers look.

One sentence per finding, the number first, in the auditor's own word for a person. A search gives
examples: its sentences never speak of a rate among people.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log10
from typing import Protocol

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.data.domain.dependencies import Companion
from fairdesk.data.domain.domain import Domain
from fairdesk.data.profiling.profile import sample_weights
from fairdesk.data.table import Column, Kind, Source
from fairdesk.models.decisions.rule import own_number_text
from fairdesk.models.model import How, Input, Mapping
from fairdesk.wording.language import Statement, say, say_many

#: What a search can show, and what not. Stands wherever findings are counted.
EXAMPLES = (
    "A discriminatory pair is two instances that differ only in protected attributes, and in what "
    "changes with them, and receive different decisions. Each pair shows that, for these inputs, "
    "the model’s decision depends on a protected attribute or what changes with it. Do not read "
    "the number of pairs as how often this happens. Instances are synthetic or rows of the data."
)
#: What the rows of the data show, and what not.
OBSERVED = (
    "Observed figures describe the rows of the data. They show how groups differ, not why, and "
    "not what a different protected attribute would have changed for any row."
)
#: What the threshold of impact ratios is: said once where they are shown.
FOUR_FIFTHS = (
    "The four-fifths threshold is an impact ratio of 0.80: a screening rule, not a legal "
    "conclusion."
)
#: What p-values are of, by whether they are corrected: said once where they are shown.
TESTED = {
    False: "p tests whether both rates are equal, not the threshold (Z test unless named).",
    True: (
        "p tests whether both rates are equal, not the threshold (Z test unless named); it is "
        "corrected for the number of groups in its table; the intervals are not."
    ),
}
#: What searches for groups show, and what not.
ESTIMATED_GROUPS = (
    "The figures for subgroups show which subgroups differ, not why: members of a subgroup may "
    "differ from all others in more than the protected attributes."
)
#: The same of identity terms: these are exchanged, and the rest of a text stays.
ESTIMATED_TERMS = (
    "The figures for identity terms are estimated from texts of the data in which one term was "
    "replaced by another. The texts are the same with every term, so a difference is due to the "
    "term. These figures do not show how often such texts occur."
)
#: What is to be done about a companion that is only proposed.
CONFIRM = (
    "Confirm or refuse this in a new audit: on the tab “Compared together” of the page "
    "Attributes, or with --companions FILE."
)
#: Between a number and its unit: no line break.
NBSP = "\u00a0"
#: What cannot be computed: 0/0, or nothing to compare with.
UNDEFINED = "undefined"
#: Endings with a plural of their own, the longer ones first.
_IRREGULAR = {
    "person": "people",
    "child": "children",
    "woman": "women",
    "man": "men",
    "staff": "staff",
}
_REGULAR = ("german", "human", "roman")
#: The kinds of columns in plain words.
KINDS = {
    Kind.NOMINAL: "categorical",
    Kind.ORDINAL: "ordinal",
    Kind.INTEGER: "whole numbers",
    Kind.REAL: "decimal numbers",
    Kind.TEXT: "free text",
    Kind.IGNORED: "excluded",
}
#: How a model input is made, in plain words; `how_made` says it of one.
WAYS = {
    How.AS_IS: "the number itself",
    How.LABEL: "the text as in the data",
    How.CODE: "a number for each value",
}
#: The steps of arithmetic in plain words.
OPERATIONS = {"subtract": "minus", "add": "plus", "multiply": "times", "divide": "divided by"}
_STATES = {
    "running": "running",
    "paused": "paused",
    "done": "done",
    "stopped": "stopped by the auditor",
    "failed": "failed",
}


class Counted(Protocol):
    """What the sentences need of a run: the store's record and the live state both have it."""

    @property
    def state(self) -> str:
        """``"running"``, ``"paused"``, ``"stopped"``, ``"done"`` or ``"failed"``."""

    @property
    def message(self) -> str:
        """Why it failed or ended early; may be empty."""

    @property
    def elapsed(self) -> float:
        """Wall seconds."""

    @property
    def tried(self) -> int:
        """Unique inputs checked."""

    @property
    def found(self) -> int:
        """Unique discriminatory instances among them."""

    @property
    def queries(self) -> int:
        """Rows sent to the model."""

    @property
    def sufficient_alone(self) -> tuple[int, ...]:
        """Per protected attribute, the findings where changing it alone is enough."""


def number(value: float, digits: int = 0) -> str:
    """Write a number with commas between thousands: ``1,305``."""
    # of whole numbers every digit counts: those of a proof are beyond a float
    whole = isinstance(value, int) and not digits
    return f"{value:,}" if whole else f"{value:,.{digits}f}"


def percent(part: float, whole: float, digits: int = 1) -> str:
    """Write a share: ``12.5 %``; a dash where there is no whole, never 0 or 100 for what is not."""
    if not whole:
        return "–"
    share = 100 * part / whole
    text, least = f"{share:.{digits}f}", 10.0**-digits
    if 0 < part < whole:
        if float(text) == 0:
            return say("below {share}", share=percent_of(f"{least:.{digits}f}"))
        if float(text) == 100:
            return say("above {share}", share=percent_of(f"{100 - least:.{digits}f}"))
    return percent_of(text)


def percent_of(text: str) -> str:
    """Write a percentage that Python wrote: ``12.5 %``."""
    return f"{text}{NBSP}%"


def shown_percent(value: float, digits: int) -> str:
    """Write a share from 0 to 1: ``3.8 %``; never 0 or 100 for what is not."""
    return percent(value, 1.0, digits) if value else percent_of("0")


def ends(low: str, high: str) -> str:
    """Write two ends: ``3.7 to 3.9 %``."""
    return say("{low} to {high}", low=low, high=high)


def interval(low: float, high: float, confidence: float, digits: int) -> str:
    """Write a confidence interval: ``95 % CI 3.7 to 3.9 %``."""
    sure = percent(confidence, 1.0, 0 if round(100 * confidence, 6) % 1 == 0 else 1)
    return say("{confidence} CI {ends}", confidence=sure, ends=percent_ends(low, high, digits))


def percent_ends(low: float, high: float, digits: int = 1) -> str:
    """Write the ends of an interval of shares from 0 to 1: ``3.7 to 3.9 %``."""
    return ends(number(100 * low, digits), percent_of(f"{100 * high:.{digits}f}"))


def digits_of(low: float, high: float) -> int:
    """Choose decimals of a percentage by the width of its interval: two figures of it, 1 to 4."""
    width = 100 * (high - low)
    return 1 if width <= 0 else min(max(1, 1 - floor(log10(width))), 4)


def signed(value: float, digits: int = 2) -> str:
    """Write a number with its sign: ``+1.20``, ``−0.31``."""
    text = f"{abs(value):.{digits}f}"
    return f"{'−' if value < 0 and float(text) else '+'}{text}"


def digits_apart(first: float, second: float) -> int:
    """Return with how many digits two shares differ by what is written of their difference."""
    one, other, apart = (round(100 * each, 1) for each in (first, second, first - second))
    return 1 if round(one - other, 1) == apart else 2


def plain(value: float, digits: int) -> str:
    """Write a number with a true minus sign, and none before nought."""
    text = f"{abs(value):,.{digits}f}"
    return f"{'−' if value < 0 and text.strip('0.') else ''}{text}"


def short(value: float, figures: int = 6) -> str:
    """Write a number as short as it is, with at most so many figures: ``0.5``, ``12``.

    Whole figures are all written: ``1,490,400``, never a power of ten.
    """
    text = f"{abs(value):.{figures}g}"
    if "e+" in text:
        text = f"{abs(value):,.0f}"
    return f"{'−' if value < 0 else ''}{text}"


def p_text(p: float | None) -> str:
    """Write a p-value: ``0.031``, ``below 0.0001``; ``undefined`` where there is none."""
    if p is None:
        return UNDEFINED
    if p < 0.0001:
        return say("below {share}", share="0.0001")
    if p > 0.999 and p < 1:
        return say("above {share}", share="0.999")
    return f"{p:.4f}" if p < 0.01 else f"{p:.3f}"


def p_is(p: float | None, *, signs: bool = False) -> str:
    """Write a p-value with its name: ``p = 0.031``, ``p below 0.0001``, ``p < 0.0001``."""
    if p is not None and signs and p < 0.0001:
        return "p < 0.0001"
    if p is not None and signs and 0.999 < p < 1:
        return "p > 0.999"
    text = p_text(p)
    return f"p = {text}" if text[0].isdigit() else f"p {text}"


def duration(seconds: float) -> str:
    """Write a time span for people: ``1.7 s``, ``41 s``, ``3 min 5 s``, ``1 h 12 min``."""
    if 0 < seconds < 0.01:
        return say("under {time}", time=f"{number(0.01, 2)}{NBSP}s")
    if seconds < 0.1:
        return f"{number(seconds, 2)}{NBSP}s"
    if seconds < 9.95:
        return f"{number(seconds, 1)}{NBSP}s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole}{NBSP}s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes}{NBSP}min" + (f" {rest}{NBSP}s" if rest else "")
    hours, minutes = divmod(minutes, 60)
    return f"{number(hours)}{NBSP}h" + (f" {minutes}{NBSP}min" if minutes else "")


def score(spec: AuditSpec, value: float) -> str:
    """Write the score of the favourable decision as the model's own number, its side showing."""
    return own_number_text(value, spec.mapping, spec.model)


def capital(text: str) -> str:
    """Return a text with its first letter as at the beginning of a sentence."""
    return text[:1].upper() + text[1:]


def plural(person: str) -> str:
    """Return the plural of the auditor's word for a person; as the catalogue has it, if it does.

    Examples
    --------
    >>> plural("applicant"), plural("person"), plural("member of staff")
    ('applicants', 'people', 'members of staff')
    """
    word, of, owner = person.partition(" of ")
    small = word.lower()
    irregular = next((ending for ending in _IRREGULAR if small.endswith(ending)), None)
    if irregular and not small.endswith(_REGULAR):
        stem = word[: len(word) - len(irregular)]
        ending = _IRREGULAR[irregular]
        many = stem + (ending if word[len(stem)].islower() else ending.capitalize())
    elif small.endswith("y") and small[-2:-1] not in tuple("aeiou"):
        many = word[:-1] + "ies"
    elif small.endswith(("s", "x", "z", "ch", "sh")):
        many = word + "es"
    else:
        many = word + "s"
    return many + of + owner


def sampled(data: Source) -> str:
    """Say which rows of a table that is larger than memory are used; empty where all are held."""
    if data.sample is None:
        return ""
    return say(
        "The table is larger than memory. Group metrics, the support of subgroups and the share of "
        "the rows whose decision changes count all {rows} rows; everything else uses a uniform "
        "random sample of {held} rows (seed {seed}), which the audit file contains.",
        rows=number(data.rows),
        held=number(data.sample.rows),
        seed=number(data.sample.seed),
    )


def unweighted(columns: Sequence[Column], mapping: Mapping) -> str:
    """Say that the weights of rows in a sample are not used; empty where no column has any."""
    found = sample_weights(columns, {item.attribute for item in mapping.inputs})
    if not found:
        return ""
    return say_many(
        len(found),
        "The column[|s] {names} [looks|look] like weights of the rows in a sample. Weights are "
        "not used: each row counts once, so rates and shares describe the rows of the table, "
        "not the population from which they were sampled.",
        names=", ".join(f"“{name}”" for name in found),
    )


def counted(count: int, person: str) -> str:
    """Write how many: ``1 applicant``, ``1,305 applicants``."""
    return say_many(count, "{n} [{person}|{people}]", **whom(person))


def whom(person: str) -> dict[str, str]:
    """Return the auditor's word for a person to a message: ``{person}`` and ``{people}``."""
    return {"person": person, "people": plural(person)}


def quoted(name: str) -> str:
    """Return a column's name as a sentence can carry it: in quotes unless it is one plain word."""
    if name.replace("_", "").replace("-", "").isalnum():
        return name
    return in_quotes(name)


def in_quotes(name: str) -> str:
    """Return a name from a file in quotes."""
    return say("“{name}”", name=name)


def listed(names: Sequence[str], last: str = "and") -> str:
    """Join names: ``sex, race and age``."""
    return joined([quoted(name) for name in names], last)


def joined(texts: Sequence[str], last: str = "and") -> str:
    """Join parts of a sentence: ``this, that and more``."""
    if len(texts) < 2:
        return "".join(texts)
    first, rest = ", ".join(texts[:-1]), texts[-1]
    if last == "and":
        return say("{first} and {last}", first=first, last=rest)
    return say("{first} or {last}", first=first, last=rest)


def protected_names(domain: Domain) -> tuple[str, ...]:
    """Return the names of the protected attributes, in the domain's order."""
    return tuple(domain.attributes[position].name for position in domain.protected)


def grouping_names(domain: Domain) -> tuple[str, ...]:
    """Return the names of what tells groups apart, also of what the model is not given."""
    return tuple(attribute.name for attribute in domain.grouping)


def when_changes(domain: Domain) -> str:
    """Say the condition of a finding: ``when only sex, race or both change``, and companions."""
    return when_change(protected_names(domain), domain.support.companions)


def when_change(names: Sequence[str], companions: Sequence[Companion] = ()) -> str:
    """Say that protected attributes change, and with them their companions or nothing else."""
    along = [each for each in companions if each.by in names]
    changing = together(names) if len(names) < 3 else listed(names, "or")
    what = changing if along else say("only {names}", names=changing)
    said = (
        say("when {names} changes", names=what)
        if len(names) == 1
        else say("when {names} change", names=what)
        if len(names) == 2
        else say("when {names} change, alone or together", names=what)
    )
    if not along:
        return said
    return say(
        "{said} (and {along} with {by})",
        said=said,
        along=listed(list(dict.fromkeys(each.attribute for each in along))),
        by=listed(list(dict.fromkeys(each.by for each in along))),
    )


def together(names: Sequence[str]) -> str:
    """Name attributes of which one, or several together, are changed: ``sex, race or both``."""
    if len(names) == 1:
        return quoted(names[0])
    if len(names) == 2:
        return say("{first}, {second} or both", first=quoted(names[0]), second=quoted(names[1]))
    return say("{names}, alone or together,", names=listed(names, "or"))


def proposed_of(domain: Domain, attributes: Sequence[str]) -> tuple[Companion, ...]:
    """Return the companions of these attributes that are neither confirmed nor refused."""
    return tuple(each for each in domain.support.proposed if each.by in attributes)


def open_sentence(domain: Domain, attributes: Sequence[str]) -> str:
    """Say which companions did not change with these attributes, and may have to; else empty."""
    proposed = proposed_of(domain, attributes)
    if not proposed:
        return ""
    return say(
        "{names} did not change with {by}, and may have to. {confirm}",
        names=listed([each.attribute for each in proposed]),
        by=listed(list(dict.fromkeys(each.by for each in proposed))),
        confirm=CONFIRM,
    )


def headline(spec: AuditSpec, run: Counted, *, ending_too: bool = True) -> Statement:
    """Say what a search found, and what that is.

    Parameters
    ----------
    spec : AuditSpec
        The audit's question: its word for a person and the protected attributes.
    """
    values = {"when": when_changes(spec.domain), **whom(spec.person)}
    if run.found:
        sentence = say_many(
            run.found,
            "{n} discriminatory pair[|s] found: the decision changes {when}. [An "
            "example|Examples], not a rate.",
            **values,
        )
    elif run.state in ("running", "paused"):
        sentence = say_many(
            run.tried,
            "No discriminatory pair found so far among {n} instance[|s] tested: [its decision does "
            "not|for none of them does the decision] change {when}.",
            **values,
        )
    elif not run.tried:
        sentence = "No instances were tested."
    else:
        sentence = say_many(
            run.tried,
            "No discriminatory pair found among {n} instance[|s] tested ({queries}): [its decision "
            "does not|for none of them does the decision] change {when}. This does not show that "
            "none exist.",
            queries=queries(run.queries),
            **values,
        )
    # of nothing tested even a zero would say too much
    count = number(run.found) if run.found or run.tried else ""
    label = "Discriminatory pairs" if count else ""
    said = Statement("example" if run.found else "", label, count, sentence)
    if not run.found:
        said = said.with_more(open_sentence(spec.domain, protected_names(spec.domain)))
    return said.with_more(ending(run)) if ending_too else said


def ending(run: Counted) -> str:
    """Say how a run ended, when not by itself; else empty."""
    after = duration(run.elapsed)
    if run.state == "stopped":
        return say("Stopped by the auditor after {time}; the results so far are kept.", time=after)
    if run.state == "failed":
        said = say("Failed after {time}; the results so far are kept.", time=after)
        return f"{said} {run.message}".rstrip()
    return ""


def alone_sentences(spec: AuditSpec, run: Counted) -> tuple[str, ...]:
    """Say for each of several protected attributes how often it is enough by itself.

    Empty with one protected attribute, where the headline says it, and when nothing was found.
    """
    names = protected_names(spec.domain)
    if len(names) < 2 or not run.found:
        return ()
    return tuple(
        say_many(
            run.found,
            "Changing {name} alone is enough for {count} of [|the ]{n} pair[|s] ({share}).",
            count=number(count),
            share=percent(count, run.found),
            name=quoted(name),
        )
        for name, count in zip(names, run.sufficient_alone, strict=True)
    )


def effort(run: Counted) -> str:
    """Say what a run spent: instances tested, queries, time."""
    return ", ".join((tested(run.tried), queries(run.queries), duration(run.elapsed)))


def tested(count: int) -> str:
    """Write how many instances were tested: ``1,305 instances tested``."""
    return say_many(count, "{n} instance[|s] tested")


def queries(count: int) -> str:
    """Write how many rows were sent to the model: ``2,610 queries``."""
    return say_many(count, "{n} [query|queries]")


def state_word(state: str) -> str:
    """Return a run's state in words: ``stopped`` is ``stopped by the auditor``."""
    return _STATES[state]


def decision_word(spec: AuditSpec, decided: int) -> str:
    """Say what a decision means for the person: ``favourable`` or ``unfavourable``."""
    favourable = decided == spec.mapping.favourable_class
    return "favourable" if favourable else "unfavourable"


def some(values: Sequence[str], most: int = 12) -> str:
    """Write the first values of many, and how many more there are."""
    rest = len(values) - most
    shown = ", ".join(values[:most])
    if rest <= 0:
        return shown
    return say("{shown} and {n} more", shown=shown, n=number(rest))


def shortened(text: str, most: int = 60) -> str:
    """Return a text of a table's cell on one line, cut where it is longer than so many letters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def how_made(one: Input, most: int = 12) -> str:
    """Say how a model input is made from its column; of codes the first ``most``."""
    match one.how:
        case How.LABEL if one.texts:
            given = some(
                [
                    say("“{given}” for “{text}”", given=each, text=text)
                    for text, each in one.texts.items()
                ],
                most,
            )
            made = say("{way}, but {texts}", way=WAYS[one.how], texts=given)
        case How.AS_IS | How.LABEL:
            made = WAYS[one.how]
        case How.CODE if one.others is not None:
            counted = [
                say("{code} for “{value}”", code=short(code), value=text)
                if text
                else say("{code} for a missing cell", code=short(code))
                for text, code in one.codes.items()
                if code != one.others
            ]
            most_of = some(counted, most) or "no value of the data"
            made = say("{codes}, else {other}", codes=most_of, other=short(one.others))
        case How.CODE:
            codes = some([f"{text} = {short(code)}" for text, code in one.codes.items()], most)
            made = f"{WAYS[one.how]}: {codes}"
        case How.CONSTANT:
            value = one.constant if isinstance(one.constant, str) else short(one.constant)
            made = say("always {value}", value=value)
    steps = (f"{OPERATIONS[step.op]} {short(step.by)}" for step in one.then)
    fitted = ["fitted on the audited table"] if one.fitted is not None else []
    return "; ".join([made, *steps, *fitted])
