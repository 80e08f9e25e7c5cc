"""The usual preparations of a table, fitted on it again where no file says how a model was fed.

Authors often standardise their table or scale it to 0..1, and save only the model. What they
computed with is lost with their training rows: that of the audited table comes near, where it is
the same or alike. So this is for the auditor to choose, and is never applied unasked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

import msgspec
import numpy as np

from fairdesk.data.table import Table
from fairdesk.errors import FairDeskError, SpecError
from fairdesk.models.inputs.editing import put
from fairdesk.models.inputs.feeding import numbers_of
from fairdesk.models.inputs.input_check import InputCheck, attributes_for, settled
from fairdesk.models.inputs.mapping.making import listing
from fairdesk.models.inputs.mapping.propose import Proposal, arrangements
from fairdesk.models.inputs.mapping.proposer import BY_POSITION
from fairdesk.models.inputs.other_ways import Skill, skill
from fairdesk.models.model import Fit, How, Input, Mapping, ModelCard, Step

M = TypeVar("M", bound=Mapping | Proposal)

#: Preparations are tried on so many rows, evenly spaced.
_TRIED_ROWS = 5_000
#: A gain of so much in agreement or AUC is worth a proposal; a loss of so much in the other not.
_GAIN, _LOSS = 0.05, 0.01
#: Agreement so little above that of always guessing says little.
_HARDLY = 0.01
_NUMBERS = "-numbers"
#: Those that agree no better are shown beside the others up to so many in all.
_FILLED = 8
_TITLES = {
    (Fit.STANDARDISE, False): "standardise every input (mean 0, standard deviation 1)",
    (Fit.STANDARDISE, True): "standardise the numbers only (mean 0, standard deviation 1)",
    (Fit.RANGE, False): "scale every input to 0..1",
    (Fit.RANGE, True): "scale the numbers only to 0..1",
}
#: What every offer comes with, for people.
CAVEAT = (
    "Authors often prepare a table in this way before training; what this model’s author did "
    "may differ. The choice is the auditor’s: a preparation with a higher accuracy is not "
    "proven to be the right one."
)


class Preparing(msgspec.Struct, frozen=True):
    """A preparation by its key: how names become inputs, and how numbers are scaled.

    Attributes
    ----------
    arrangement : str
        As of `fairdesk.models.inputs.mapping.propose.arrangements`; empty: as proposed.
    fit : Fit, optional
        How inputs are scaled; None: not at all.
    only_numbers : bool
        Whether inputs made of names stay as they are.
    """

    arrangement: str = ""
    fit: Fit | None = None
    only_numbers: bool = False


class Offer(msgspec.Struct, frozen=True):
    """A preparation that the auditor may choose, and what the model would say with it.

    Attributes
    ----------
    key : str
        As `read_key` reads it.
    title : str
        What is done, for people.
    mapping : Mapping
        How the model is then fed.
    rows : int
        On so many rows it was tried.
    accuracy : float
        The share of them where the decision is the label's.
    auc : float or None
        The area under the ROC curve.
    """

    key: str
    title: str
    mapping: Mapping
    rows: int
    accuracy: float
    auc: float | None


#: Asks the model about a table's rows: `fairdesk.models.inputs.input_check.check` of an open model.
CheckInputs = Callable[[Mapping, Table], InputCheck]


def read_key(key: str) -> Preparing:
    """Read ``"standardise"``, ``"range-numbers"``, ``"one-hot+standardise"``, ...

    Raises
    ------
    SpecError
        When it is none.
    """
    arrangement, _, scaling = key.rpartition("+")
    name = scaling.removesuffix(_NUMBERS)
    if name in set(map(str, Fit)):
        return Preparing(arrangement, Fit(name), scaling.endswith(_NUMBERS))
    if not arrangement and scaling == name:
        return Preparing(scaling)
    raise SpecError(
        f"There is no preparation “{key}”.",
        remedy=(
            "Use “standardise” or “range” (followed by “-numbers”, it leaves inputs made from "
            "categories unchanged), if needed after an arrangement of the inputs, as in "
            "“one-hot+standardise”; “fairdesk inspect” lists those that may fit."
        ),
    )


def fitted(mapping: M, table: Table, how: Preparing) -> M:
    """Scale a mapping's inputs by what this table's rows give.

    Inputs that are text, the same for all rows, made from nothing yet, or that have arithmetic of
    their own already, stay as they are.

    Parameters
    ----------
    mapping : Mapping or Proposal
        What is scaled; at least one input is made from a column.
    table : Table
        On whose rows it is fitted, all of them; missing cells count for nothing.
    how : Preparing
        What is done; its arrangement has to be the mapping's already.

    Raises
    ------
    ModelError, DataError
        When an input cannot be made from the table.
    """
    if how.fit is None:
        return mapping
    for place, item in enumerate(mapping.inputs):
        if item is None or item.then or item.how in (How.CONSTANT, How.LABEL):
            continue
        if how.only_numbers and item.how is not How.AS_IS:
            continue
        steps = steps_of(item, table, how.fit)
        mapping = put(mapping, place, msgspec.structs.replace(item, then=steps, fitted=how.fit))
    return mapping


def steps_of(item: Input, table: Table, fit: Fit) -> tuple[Step, ...]:
    """Compute the arithmetic by which one input is scaled on this table.

    Raises
    ------
    ModelError, DataError
        When the input cannot be made from the table.
    """
    plain = msgspec.structs.replace(item, then=(), fitted=None)
    (attribute,) = attributes_for(Mapping((plain,), "", 0), table)
    numbers = numbers_of(plain, attribute, table.codes[:, table.index(item.attribute)])
    numbers = numbers[np.isfinite(numbers)]
    if not numbers.size:
        return ()
    if fit is Fit.STANDARDISE:
        middle, width = float(numbers.mean()), float(numbers.std())
    else:
        middle, width = float(numbers.min()), float(np.ptp(numbers))
    # as scalers do: what is the same in all rows is not divided
    return Step("subtract", middle), Step("divide", width if width > 0 else 1.0)


def still_fits(item: Input, table: Table) -> bool:
    """Return whether an input's arithmetic is what this table gives, but for rounding."""
    if item.fitted is None:
        return False
    wanted = steps_of(item, table, item.fitted)
    return [step.op for step in wanted] == [step.op for step in item.then] and np.allclose(
        [step.by for step in wanted], [step.by for step in item.then], rtol=1e-9, atol=1e-12
    )


def is_due(card: ModelCard, mapping: Mapping, proof: InputCheck) -> bool:
    """Return whether nothing says how numbers are scaled, and the model hardly beats guessing."""
    hints = card.hints
    known = card.prepared or hints.steps or hints.steps_in_order or hints.scalers
    if known or any(item.then for item in mapping.inputs):
        return False
    hardly = proof.accuracy < proof.majority + _HARDLY
    return hardly or skill(proof.auc, proof.confusion) is not Skill.SHOWN


def offers(
    prove: CheckInputs,
    card: ModelCard,
    table: Table,
    label: str,
    mapping: Mapping,
    proof: InputCheck,
    *,
    clear: bool = True,
) -> tuple[Offer, ...]:
    """Try the usual preparations where they are due; empty where none agrees clearly better.

    Parameters
    ----------
    table : Table
        The data: preparations are fitted on all its rows, and tried on some.
    label : str
        The column with the decision or the truth.
    mapping, proof : Mapping, Proof
        How the model is fed now, and how far it then agrees with the label.
    clear : bool
        Whether it is known which decision is the favourable one; else that is settled for each.

    Returns
    -------
    tuple[Offer, ...]
        In the order of the preparations, whatever their agreement.
    """
    if not is_due(card, mapping, proof):
        return ()
    some = some_rows(table)
    found = []
    for key, title, prepared in _prepared(card, table, label, mapping):
        try:
            tried = prove(prepared, some)
            if not clear:
                chosen, _ = settled(prepared, tried)
                if chosen != prepared:
                    prepared, tried = chosen, prove(chosen, some)  # noqa: PLW2901
        except FairDeskError:
            continue  # what the model refuses is no offer
        found.append(Offer(key, title, prepared, tried.rows, tried.accuracy, tried.auc))
    better = [offer for offer in found if _is_better(offer, proof)]
    if not better:
        return ()
    plain = [offer for offer in found if "+" not in offer.key and offer not in better]
    kept = [*better, *plain[: max(0, _FILLED - len(better))]]
    return tuple(offer for offer in found if offer in kept)


def some_rows(table: Table) -> Table:
    """Return a table with the rows on which ways to feed a model are tried."""
    if len(table.codes) <= _TRIED_ROWS:
        return table
    places = np.linspace(0, len(table.codes) - 1, _TRIED_ROWS).astype(np.intp)
    return replace(table, codes=table.codes[places])


def _is_better(offer: Offer, proof: InputCheck) -> bool:
    """Return whether an offer agrees clearly better with the label in one way, else no worse."""
    gain = offer.accuracy - proof.accuracy
    ranked = 0.0 if offer.auc is None or proof.auc is None else offer.auc - proof.auc
    return max(gain, ranked) >= _GAIN and min(gain, ranked) >= -_LOSS


def _prepared(
    card: ModelCard, table: Table, label: str, mapping: Mapping
) -> Iterator[tuple[str, str, Mapping]]:
    """Go through the preparations: of the inputs as they are, and as they could be arranged."""
    ways = [("", "", mapping)]
    for key, title, inputs in arrangements(card, table, label):
        # numbers that the auditor confirmed are no guess any longer
        if key != "codes" or mapping.matched != BY_POSITION:
            ways.append((key, title, msgspec.structs.replace(mapping, inputs=inputs)))
    for key, title, arranged in ways:
        if key:
            yield key, title, arranged
        for fit in Fit:
            seen = []
            for only_numbers in (False, True):
                scaled = fitted(arranged, table, Preparing(key, fit, only_numbers))
                if scaled == arranged or scaled in seen:
                    continue
                seen.append(scaled)
                name = f"{fit}{_NUMBERS if only_numbers else ''}"
                usage = _TITLES[fit, only_numbers]
                yield (
                    f"{key}+{name}" if key else name,
                    f"{usage}; {title}" if title else usage,
                    scaled,
                )


def refitted(mapping: Mapping) -> dict[Fit, tuple[str, ...]]:
    """Return the columns whose inputs are scaled by what the audited table gave, by how."""
    found: dict[Fit, tuple[str, ...]] = {}
    for fit in Fit:
        columns = [item.attribute for item in mapping.inputs if item.fitted is fit]
        if columns:
            found[fit] = tuple(dict.fromkeys(columns))
    return found


def scaling_sentence(fit: Fit, columns: tuple[str, ...]) -> str:
    """Return a sentence that names the inputs scaled by figures of the audited table."""
    how = {
        Fit.STANDARDISE: "standardised with the means and standard deviations",
        Fit.RANGE: "scaled to 0..1 with the lowest and highest values",
    }[fit]
    return (
        f"No scaler came with the model: its input from {listing(columns)} is {how} of the "
        "audited table. This is common; the numbers used in training may differ."
    )
