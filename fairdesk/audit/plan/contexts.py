"""What methods about groups work with, in the guest and where no model is open."""

from __future__ import annotations

from functools import partial

import msgspec

from fairdesk.audit.plan.inputs import AllRows, GroupInputs, group_blocks, grouped_people
from fairdesk.audit.plan.spec import RunSpec
from fairdesk.data.domain.domain import Domain
from fairdesk.groups.context import GroupContext
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.model import Mapping


def group_context(
    domain: Domain, mapping: Mapping, run: RunSpec, inputs: GroupInputs, fed: FedModel | None
) -> GroupContext:
    """Return the data of an audit as a method about groups sees them, with the model if any."""
    given = msgspec.structs.asdict(inputs)
    everything: AllRows | None = given.pop("all_rows")
    if everything is not None:
        given["blocks"] = partial(group_blocks, domain, everything)
        given["people_blocks"] = partial(grouped_people, domain, everything)
        given["n_rows"] = everything.source.rows
    return GroupContext(
        domain=domain,
        **given,
        model=fed,
        favourable=mapping.favourable_class,
        decisions=mapping.decisions(fed.opened.card) if fed else mapping.outcomes,
        edges=run.edges,
        text=run.text,
        terms=run.terms,
    )
