"""Searches that are run to their end, and what is true of all that they find."""

import numpy as np

from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.searches import adf, aequitas, eidig, maft, symbolic, uniform
from fairdesk.individual.searches.symbolic import SymbolicOptions
from fairdesk.models.model import labels
from fairdesk.results.events import Found, Progress

_WALKS = {"global_iteration_limit": 200, "local_iteration_limit": 60}
#: The three kinds of Aequitas, small.
AEQUITAS = {
    "random": (aequitas.random, aequitas.RandomOptions(**_WALKS)),
    "semi": (aequitas.semi_directed, aequitas.SemiDirectedOptions(**_WALKS)),
    "full": (aequitas.fully_directed, aequitas.FullyDirectedOptions(**_WALKS)),
}
SMALL = SymbolicOptions(
    max_iter=120, global_num=30, num_samples=40, explanation="own", confidence="branch"
)
#: Every search, with small options.
SEARCHES = {
    "maft": (maft.search, maft.MaftOptions(global_num=40, local_num=60)),
    "eidig": (eidig.search, eidig.EidigOptions(global_num=40, local_num=60)),
    "adf": (adf.search, adf.AdfOptions(global_num=40, local_num=60)),
    "uniform": (uniform.search, uniform.UniformOptions(samples=600)),
    "sg": (symbolic.search, SMALL),
    **AEQUITAS,
}


def run(search, options, domain, model, seed=0, people=None, **context):
    """Run a search to its end; give what it found, and how far it was meanwhile."""
    if people is None:
        people = domain.sample(np.random.default_rng(seed + 1), 100)
    context = SearchContext(model, domain, **context)
    events = list(search(context, people, options, np.random.default_rng(seed)))
    found = [event for event in events if isinstance(event, Found)]
    return found, [event for event in events if isinstance(event, Progress)]


def rows_of(found, domain):
    return np.concatenate([np.empty((0, len(domain.names))), *(event.rows for event in found)])


def check_sound(domain, model, found, progress):
    """Check what is true of every search's pairs and counts."""
    asked = np.concatenate(model.asked)
    assert domain.contains(asked).all()
    assert progress[-1].queries == len(asked)
    for event in found:
        assert domain.contains(event.rows).all()
        assert domain.contains(event.partners).all()
        assert (event.rows[:, domain.others] == event.partners[:, domain.others]).all()
        decided, other = (labels(model.predict(each)) for each in (event.rows, event.partners))
        assert (decided != other).all()
        assert (labels(event.row_scores) == decided).all()
        assert (labels(event.partner_scores) == other).all()
    people = rows_of(found, domain)[:, domain.others]
    assert len(np.unique(people, axis=0)) == len(people) == progress[-1].found
    assert progress[-1].tried >= progress[-1].found
