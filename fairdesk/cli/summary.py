"""What ``fairdesk audit`` prints when it is done: the answers on one screen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from fairdesk.answers.answer import Question
from fairdesk.answers.rates import decision_tables, rates_sentences, without_misfit
from fairdesk.answers.selection import best_run, best_shares
from fairdesk.app.audit import Outcome
from fairdesk.app.outputs import REPORT
from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.audit.catalogue.methods import METHODS, method_named
from fairdesk.audit.store.records import RunRecord
from fairdesk.results.groups import GroupTable
from fairdesk.results.individual import Share
from fairdesk.results.proofs import PairShare, Proven
from fairdesk.wording import comparisons, figures, inspected, words
from fairdesk.wording.groups.tables import rate_of, worst_of
from fairdesk.wording.pairs import plausible_pairs
from fairdesk.wording.proofs import model_sentence, proven_of, proven_statement

#: So many pairs of values whose decision differs are printed: those that differ most.
_MOST_PAIRS = 3
#: Groups of an attribute on a line: the reference, and those with the lowest ratios.
_MOST_GROUPS = 4
#: Runs of these kinds are in the tables above the others.
_IN_TABLES = (QuestionKind.RATES, QuestionKind.SHARE)


def summary(outcome: Outcome) -> str:
    """Say what came of an audit: groups, rows whose decision changes, then every other run."""
    spec = outcome.spec
    selected, changing = list(_selected(outcome)), list(_changing(outcome))
    tabled = {
        QuestionKind.RATES: bool(selected),
        QuestionKind.SHARE: bool(changing),
    }
    others = [
        run for run in outcome.runs if not tabled.get(method_named(run.spec.method).answers, False)
    ]
    several = len(outcome.runs) > 1
    about = f"{spec.title}: {words.counted(spec.data.rows, spec.person)}."
    lines = [
        f"{about} {inspected.agreement(inspected.agreed(outcome.found.proof))}",
        *_block(selected),
        *_block(changing),
        *_block([line for run in others for line in _run_lines(outcome, run, short=several)]),
        *_block(
            [
                *(f"Left out: {why}" for why in outcome.left_out.values()),
                *(f"Warning: {warning}" for warning in outcome.warnings),
            ]
        ),
        *_block(_files(outcome.files)),
    ]
    return "\n".join(lines)


def _block(lines: list[str]) -> list[str]:
    return ["", *lines] if lines else []


def _files(files: Mapping[str, str]) -> list[str]:
    """Name the files of each folder on a line, the report last."""
    folders: dict[str, list[str]] = {}
    for name, path in files.items():
        if name != REPORT:
            folders.setdefault(str(Path(path).parent), []).append(Path(path).name)
    made = [f"Files in {folder}: {', '.join(names)}" for folder, names in folders.items()]
    return [*made, *(f"Report ready: {files[REPORT]}" for _ in [0] if REPORT in files)]


def _selected(outcome: Outcome) -> Iterator[str]:
    """Yield the model's selection rates by group, an attribute a line."""
    alone = [each for each in decision_tables(outcome.runs) if len(each.attributes) == 1]
    rows = [(each.attributes[0], _rates(each), _ratio(each)) for each in alone if each.lines]
    if not rows:
        return
    yield "SELECTED BY THE MODEL"
    wide, long = (max(len(row[place]) for row in rows) for place in (0, 1))
    for name, rates, ratio in rows:
        yield f"  {name:<{wide}}  {rates:<{long}}  {ratio}".rstrip()
    if any(line.below for each in alone for line in each.lines):
        yield "  ! below 0.80, the four-fifths threshold: a screening rule, not a legal conclusion"


def _rates(table: GroupTable) -> str:
    places = sorted(
        (place for place, line in enumerate(table.lines) if line.rate is not None),
        key=lambda place: (place != table.reference, table.lines[place].impact_ratio or 9.0),
    )
    shown = [f"{table.lines[i].values[0]} {rate_of(table, table.lines[i])}" for i in places]
    return words.some(shown, _MOST_GROUPS)


def _ratio(table: GroupTable) -> str:
    worst = worst_of(table)
    if worst is None or worst.impact_ratio is None:
        return ""
    sign = " !" if worst.below else ""
    return f"ratio {words.number(worst.impact_ratio, 2)} ({worst.values[0]}){sign}"


def _changing(outcome: Outcome) -> Iterator[str]:
    """Yield for how many rows the decision changes, by each attribute, and the audit studies."""
    spec, run = outcome.spec, best_run(Question.SHARE, outcome.runs)
    told = [share for _, share in best_shares(outcome.runs) if share.whom == "data"]
    if run is None or not told:
        return
    yield "SAME PERSON, PROTECTED ATTRIBUTE CHANGED: THE DECISION CHANGES FOR"
    shares = [each for each in comparisons.shares_of(run.figures) if each.whom == "data"]
    shares.sort(key=lambda each: len(each.attributes))
    wide = max(len(words.listed(each.attributes, "or")) for each in shares)
    answered = [each for each in shares if comparisons.is_answered(spec, each)]
    for each in shares:
        name = f"{words.listed(each.attributes, 'or'):<{wide}}"
        if each in answered:
            yield f"  {name}  {_counts(each)}"
        else:
            yield f"  {name}  {figures.share_statement(spec, each, run.figures).sentence}"
    for companion in spec.domain.support.companions:
        yield f"  {comparisons.companion_text(spec.domain, companion)}"
    tables = decision_tables(outcome.runs)
    for study in comparisons.studies_of(spec, run.figures):
        yield f"  {comparisons.study_sentence(spec, study)}"
        if said := comparisons.against_sentence(spec, study, tables):
            yield f"  {said}"
    beside = (
        *(comparisons.unsupported_sentence(spec, each) for each in answered[-1:]),
        comparisons.every_sentence(spec, run.figures),
        figures.changed_answers(run),
        words.ending(run),
    )
    yield from (f"  {each}" for each in beside if each)


def _counts(share: Share) -> str:
    """Write the count of a share with who would lose and who would gain."""
    if not share.exhaustive:
        return f"{figures.short_share(share)} ({figures.share_known(share)})"
    counted = f"{words.number(share.hits)} of {words.number(share.n_samples)}"
    said = f"{counted:<14}  {words.percent(share.hits, share.n_samples, 1):>7}"
    if share.gains is None or share.losses is None:
        return said
    return f"{said}   {words.number(share.losses)} lose, {words.number(share.gains)} gain"


def _run_lines(outcome: Outcome, run: RunRecord, *, short: bool) -> tuple[str, ...]:
    """Say what came of one run; shortly where there are several."""
    spec, title = outcome.spec, METHODS[run.spec.method].title
    share = outcome.plausible.get(run.id)
    said = figures.headline(spec, run, None if share is None else share.reference)
    if short and said.value:
        return (f"{title}: {said.sentence} {words.capital(figures.effort(run))}.",)
    tables = decision_tables(outcome.runs)
    quoted = without_misfit(spec, run.figures, tables)
    of_people = proven_of(quoted, "people")
    rest = [each for each in quoted if not (isinstance(each, Proven) and each.of == "people")]
    pairs = [each for each in run.figures if isinstance(each, PairShare)]
    differing = sorted(pairs, key=lambda pair: -pair.falsified)[:_MOST_PAIRS]
    worst = [each for each in differing if each.falsified]
    others = (each for each in rest if not isinstance(each, PairShare))
    more = len(pairs) - len(worst)
    return (
        *([f"{title}:"] if short else []),
        said.sentence,
        *figures.alone_sentences(spec, run),
        *(each for each in figures.sentences(spec, (*others, *worst)) if each not in said.sentence),
        *([proven_statement(of_people).sentence, model_sentence(spec)] if of_people else []),
        *rates_sentences(spec, run.figures, tables),
        *([_more_pairs(more, outcome.files)] if more > 0 else []),
        *([plausible_pairs(share).sentence] if share is not None else []),
        *([run.message] if run.state == "done" and run.message else []),
        f"{words.capital(figures.effort(run))}.",
    )


def _more_pairs(n_pairs: int, files: Mapping[str, str]) -> str:
    """Say where the rest of the pairs of values is, which would fill the terminal."""
    said = f"{words.counted(n_pairs, 'other pair')} of values"
    return f"{said} in {files[REPORT]}." if REPORT in files else f"{said}."
