"""The points of a certificate: whom they stand for, and what the model itself says of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.domain.space import Places
from fairdesk.certify.domain.ties import companion_of
from fairdesk.certify.proof.certificate import Header
from fairdesk.models.model import labels
from fairdesk.results.events import Rows, Scores

Predict = Callable[[Rows], Scores]
#: Rows sent to the model at once.
_AT_ONCE = 50_000


class Points:
    """The points of a certificate, and its model.

    Parameters
    ----------
    header : Header
        Of the certificate.
    predict : callable
        Asks the model about ``(n, d)`` rows of the header's domain.
    """

    def __init__(self, header: Header, predict: Predict) -> None:
        self._header, self._domain, self._predict = header, header.domain, predict

    def rows(self, places: Places) -> Rows:
        """Return rows from which the domain makes the members of points: ``(n, d)``."""
        domain = self._domain
        rows = np.repeat(domain.low[None], len(places), axis=0)
        for i, axis in enumerate(self._header.axes):
            rows[:, domain.names.index(axis.attribute)] = axis.code(places[:, i])
        rows[:, domain.protected] = domain.combinations[0]
        moved = domain.apply_dependencies(rows.copy())
        for i, axis in enumerate(self._header.axes):
            if companion_of(domain, axis.attribute):
                # which code a member has depends on its combination
                moved[:, domain.names.index(axis.attribute)] = axis.code(places[:, i])
        return moved

    def differ(self, places: Places) -> NDArray[np.bool_]:
        """Ask the model of each point whether two members who may be are decided differently."""
        domain, members = self._domain, len(self._domain.combinations)
        at_once = max(1, _AT_ONCE // members)
        parts = [np.empty(0, dtype=np.bool_)]
        for start in range(0, len(places), at_once):
            similar = domain.similar(self.rows(places[start : start + at_once]))
            everyone = similar.reshape(-1, similar.shape[2])
            allowed = domain.possible(similar).ravel()
            predicted_class = np.full(len(everyone), -1, dtype=np.int64)
            if allowed.any():
                predicted_class[allowed] = labels(self._predict(everyone[allowed]))
            sides_of_combinations = predicted_class.reshape(-1, members)
            allowed = allowed.reshape(sides_of_combinations.shape)
            most = sides_of_combinations.max(axis=1)
            least = np.where(allowed, sides_of_combinations, most[:, None]).min(axis=1)
            parts.append(most != least)
        return np.concatenate(parts)

    def is_favourable(self, places: Places, combination: int) -> NDArray[np.bool_]:
        """Ask the model which points it gives the favourable decision, with protected values.

        Parameters
        ----------
        places : Places
            ``(n, a)``.
        combination : int
            The place of the protected values among `Domain.combinations`.
        """
        rows = self._domain.counterparts(self.rows(places), np.full(len(places), combination))
        decided = labels(self._predict(rows)) == self._header.mapping.favourable_class
        return np.asarray(decided)

    def person(self, places: Places) -> str:
        """Write a point, ``(a,)``: its values, but for the protected ones."""
        domain, row = self._domain, self.rows(places[None])[0]
        others = [domain.names.index(axis.attribute) for axis in self._header.axes]
        values = [f"{domain.names[i]} = {domain.attributes[i].text(row[i])}" for i in others]
        return "an instance with " + ", ".join(values)
