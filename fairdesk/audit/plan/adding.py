"""Whether rows that a repair adds can be: people of the domain, with labels that there are."""

from __future__ import annotations

import numpy as np

from fairdesk.data.domain.domain import Domain
from fairdesk.results.mitigation import Augmented


def why_wrong(added: Augmented, domain: Domain, classes: int, rows: int) -> str:
    """Say in a clause what cannot be about rows to add; empty where all can.

    Parameters
    ----------
    domain : Domain
        Whom there can be. Of a column of texts the codes after its last are the new texts.
    classes : int
        How many classes the model has of its own.
    rows : int
        How many rows the table has.
    """
    people = added.rows.copy()
    for place in domain.texts.tolist():
        written = len(domain.attributes[place].values)
        codes = people[:, place]
        new = (codes >= written) & (codes < written + len(added.texts)) & (codes == np.floor(codes))
        codes[new] = 0.0
    if not domain.contains(people).all():
        return "it adds instances outside the input domain"
    if ((added.labels < 0) | (added.labels >= classes)).any():
        return "it adds labels that the model does not have"
    if ((added.seeds < 0) | (added.seeds >= rows)).any() or (added.pairs < -1).any():
        return "it refers to rows or pairs that do not exist"
    return ""
