"""Models that read a text, and studies of texts; nothing needs a library of models."""

import numpy as np

from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.groups.context import GroupContext
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.model import How, Input, Mapping, ModelCard, Takes


class Reader:
    """Gives each text, with a number beside it, the score that a function says; keeps all calls."""

    def __init__(self, score, classes=("bad", "good")):
        self.score = score
        self.calls = []
        self.card = ModelCard(
            *("m", "", "a test's", "reads", Takes.COLUMNS, ("text", "size"), True),
            classes=classes,
            scores="probabilities",
            accepts=("text", "number"),
        )

    @property
    def asked(self):
        """All that was asked, in its order."""
        return [each for call in self.calls for each in call]

    def scores(self, inputs):
        self.calls.append(list(zip(*(each.tolist() for each in inputs), strict=True)))
        scores = np.array([self.score(*each) for each in self.calls[-1]], dtype=np.float32)
        return scores.reshape(len(scores), -1)


def study_of(texts, reader, sizes=None, *, terms=None, missing=(), how=How.LABEL):
    """Make a study of texts, one row each; ``missing`` are the places of rows without."""
    values = tuple(dict.fromkeys(texts))
    rows = np.column_stack(
        (
            [values.index(text) for text in texts],
            np.zeros(len(texts)) if sizes is None else sizes,
        )
    ).astype(float)
    rows[list(missing), 0] = np.nan
    text = Attribute("note", Kind.TEXT, values, 0.0, len(values) - 1.0, role=Role.FIXED)
    size = Attribute("size", Kind.INTEGER, low=0.0, high=9.0, role=Role.FIXED)
    codes = {} if how is How.LABEL else dict.fromkeys(values, 1.0)
    inputs = (Input("text", "note", how, codes), Input("size", "size", How.AS_IS))
    mapping = Mapping(inputs, "by name", favourable_class=len(reader.card.classes) - 1)
    nothing = np.full(len(rows), np.nan)
    domain = Domain((text, size))
    return GroupContext(
        domain=domain,
        rows=rows,
        groups=np.empty((len(rows), 0)),
        inside=~np.isnan(rows[:, 0]),
        label=nothing,
        decided=nothing,
        model=FedModel(reader, mapping, domain.attributes),
        favourable=mapping.favourable_class,
        decisions=reader.card.classes,
        text="note",
        terms=terms or {},
    )
