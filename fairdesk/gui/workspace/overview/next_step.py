"""The next sensible step of an audit: what an auditor would do now, and the button for it."""

from __future__ import annotations

from dataclasses import dataclass

from fairdesk.gui.workspace.common.page_names import EXAMPLES, GROUPS, REPAIR
from fairdesk.wording import words

#: What `Next.page` is for a run that estimates.
ESTIMATE = "estimate"
#: What it is for a run that certifies.
PROVE = "prove"
#: What it is for subgroup discovery.
FIND_GROUPS = "find groups"


@dataclass(frozen=True)
class Next:
    """The next sensible step.

    Attributes
    ----------
    words : str
        What it is, and why.
    button : str
        What the button says; empty when there is nothing to press.
    page : str
        The page that the button opens; empty for a new run, `ESTIMATE`, `PROVE` or `FIND_GROUPS`
        for one of these.
    """

    words: str
    button: str
    page: str


def next_step(
    run: words.Counted | None,
    latest: words.Counted | None,
    many: str,
    *,
    estimated: bool = True,
    proven: bool = True,
    grouped: bool = True,
    individual: bool = True,
    mitigated: bool = True,
) -> Next:
    """Return what an auditor would do next.

    Parameters
    ----------
    run, latest : Counted, optional
        The search that found most, and the run that was begun last.
    estimated, proven : bool
        Whether the share is estimated, and whether a certification was tried or none is possible.
    grouped : bool
        Whether subgroups were searched, or none can be.
    individual : bool
        Whether instances can be compared with their counterfactuals.
    """
    state = latest.state if latest is not None else ""
    button, page = "Run again…", ""
    if state in ("running", "paused"):
        what = "A run is in progress. You can read the pairs found so far while it continues."
        button, page = "See the pairs", EXAMPLES
    elif state == "failed":
        what = "The last run failed; its results so far are kept. Run it again, or read them."
    elif not individual and not grouped:
        what = (
            "Instances cannot be compared with counterfactuals here. Outcomes may still differ "
            "between subgroups: search for them."
        )
        button, page = "Discover subgroups", FIND_GROUPS
    elif not individual:
        what = "Read the results about groups, then export the report."
        button, page = "See the groups", GROUPS
    elif run is None:
        what = (
            f"Search for two {many} who are identical except for protected attributes and receive "
            "different decisions."
        )
        button = "Find discriminatory pairs…"
    elif not estimated:
        what = (
            "Pairs do not show how often decisions change. Estimate it: a minute is enough."
            if run.found
            else "No pair was found. An estimate gives an upper bound for the share."
        )
        button, page = "Estimate how often", ESTIMATE
    elif not proven:
        what = (
            "An estimate can miss rare cases. Certify for which part of the input domain the "
            "decision cannot change: start with a minute."
        )
        button, page = "Certify", PROVE
    elif not grouped:
        what = (
            f"Pairs and certification are about individuals. Whole subgroups of {many} may have "
            "different outcomes as well: search for rules that define them."
        )
        button, page = "Discover subgroups", FIND_GROUPS
    elif run.found and not mitigated:
        what = (
            "Read some pairs. Then try a mitigation: it adds rows made from all pairs to the "
            "training data and retrains the model."
        )
        button, page = "Mitigate…", REPAIR
    elif run.found:
        what = (
            "Read some pairs, flag those that matter and note why. Then export the report: it "
            "shows flagged pairs first."
        )
        button, page = "Read the pairs", EXAMPLES
    else:
        what = (
            "No pair was found. Search longer, or with another random seed or method, before "
            "drawing a conclusion."
        )
    return Next(what, button, page)
