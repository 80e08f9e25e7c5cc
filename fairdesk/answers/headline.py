"""The one figure that stands for an audit: of individuals in the data where that was measured."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from fairdesk.answers.answer import Answer, Question
from fairdesk.answers.selection import Run, best_shares
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.wording import comparisons, figures, words
from fairdesk.wording.language import say
from fairdesk.wording.statements import Statement, unmeasured

#: The answers that stand for the whole, the first that is known.
_ORDER = (Question.SHARE, Question.CERTAIN, Question.GROUPS, Question.SUBGROUPS, Question.EXAMPLE)


def headline(spec: AuditSpec, runs: Sequence[Run], found: Sequence[Answer]) -> Statement:
    """Return an audit's figure: ``1,442 of 9,769 applicants, 14.76 %``, with one sentence.

    Parameters
    ----------
    found : sequence of Answer
        Its answers, see `fairdesk.answers.selection.answers`.
    """
    for run, share in best_shares(runs):
        if share.whom == "data" and share.exhaustive:
            said = figures.share_statement(spec, share, run.figures)
            if not comparisons.is_answered(spec, share):
                return said
            value = say(
                "{hits} of {people}, {share}",
                hits=words.number(share.hits),
                people=words.counted(share.n_samples, spec.person),
                share=words.percent(share.hits, share.n_samples, 2),
            )
            return msgspec.structs.replace(said, value=value)
    by_question = {each.question: each for each in found}
    known = [by_question[each] for each in _ORDER if each in by_question]
    return next((each.said for each in known if each.known and each.said.value), unmeasured(""))
