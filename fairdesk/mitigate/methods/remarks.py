"""What a repair says of its trials beside their figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairdesk.errors import ModelError
from fairdesk.results.mitigation import Trial

#: The model as it was imported, and the same retrained with nothing added.
IMPORTED, PLAIN = 0, 1


def luck_of_training(again: Trial, plain: Trial, target: str) -> Iterator[str]:
    """Tell how far another seed alone moves the target, where that is shown.

    Parameters
    ----------
    again, plain : Trial
        The model retrained with nothing added, by another seed and by the repair's own.
    """
    found = {
        each.against: each
        for each in again.changes
        if each.what == target and each.rows != "validation"
    }
    luck = found.get(PLAIN)
    if luck is None or luck.low is None or luck.high is None or luck.low <= 0 <= luck.high:
        return
    (before,) = (
        each.estimate or 0.0
        for each in plain.measures
        if (each.what, each.rows) == (luck.what, luck.rows)
    )
    now, then = (f"{100 * each:.1f}" for each in (before + (luck.difference or 0.0), before))
    told = (
        f"the decision changes for {now} % of the input domain instead of {then} %"
        if target == "share_domain"
        else f"the subgroup is {now} percentage points apart from all others instead of {then}"
    )
    yield (
        "Training is partly random: with the retrained baseline, trained again from another random "
        f"seed, {told}. The confidence intervals do not include this: repeat the mitigation with "
        "other random seeds before relying on a difference of this size."
    )


def of_chosen(chosen: Trial, target: str) -> Iterator[str]:
    """Tell what the figures of the chosen portion do not say by themselves."""
    if chosen.verdict == "open":
        lowest = "fewest decision changes" if target == "share_domain" else "smallest gap"
        yield (
            "The model was chosen on samples apart from those reported here. There, the best "
            f"augmentation sizes did not differ significantly, and the one with the {lowest} was "
            "chosen; a smaller one may do as well."
        )


def of_none(trials: Sequence[Trial], target: str, labels: str) -> Iterator[str]:
    """Tell what may be the cause where nothing was shown to help."""
    portions = [each for each in trials if each.kind == "portion"]
    if all(each.failed for each in portions):
        return
    if any(each.verdict == "costly" for each in portions):
        return
    if any(each.verdict == "worse" for each in portions):
        yield (
            "The labels of the augmentation rows may contradict those of the data: try another "
            "source of labels."
        )
    elif labels == "model" and target == "share_domain":
        yield (
            "The labels are the model’s own, so the model may learn nothing new from the "
            "augmentation rows."
        )
    else:
        yield (
            "The model may learn too little from the augmentation rows, or their labels may depend "
            "on the same attributes as its decisions."
        )


def reason_of(error: ModelError | MemoryError | ImportError) -> str:
    """Return why a model could not be trained or measured."""
    if isinstance(error, ModelError):
        return str(error)
    if isinstance(error, ImportError):
        # one of its own, made for a model that was saved with older versions
        return f"The model’s environment does not contain {error.name}."
    return "There was not enough memory. Close other programs, or reduce the augmentation size."


def counted(count: int, what: str) -> str:
    """Return a count of things: ``"2 models"``."""
    return f"{count} {what}{'s' if count != 1 else ''}"
