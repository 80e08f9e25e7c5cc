"""Similar sets: who else a person could be, and whether that changes the decision."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain import Domain
from fairdesk.events import Found, Progress, Rows, Scores
from fairdesk.individual.asked import AskedModel, KeyTable
from fairdesk.models.model import Model, labels

#: Rows that are made and asked about in one go; more would be no faster, only larger.
MOST_ROWS = 200_000

Part = TypeVar("Part", bound=np.generic)


def in_parts(ask: Callable[[Rows], NDArray[Part]], rows: Rows, questions: int) -> NDArray[Part]:
    """Ask about rows part by part, where each row makes so many questions.

    Keeps memory bounded when many people meet many combinations.
    """
    size = max(1, MOST_ROWS // questions)
    if len(rows) <= size:
        return ask(rows)
    return np.concatenate([ask(rows[start : start + size]) for start in range(0, len(rows), size)])


@dataclass(frozen=True, slots=True)
class Answers:
    """What the model answers to people under every combination of protected values.

    Attributes
    ----------
    scores : Scores
        ``(n, C, k)``; NaN for those who may not be.
    labels : NDArray[np.intp]
        ``(n, C)``; the decided classes; -1 for those who may not be.
    allowed : NDArray[np.bool_], optional
        ``(n, C)``; who may be: members that break no constraint. ``None`` when all may.
    """

    scores: Scores
    labels: NDArray[np.intp]
    allowed: NDArray[np.bool_] | None = None

    @property
    def discriminatory(self) -> NDArray[np.bool_]:
        """``(n,)``; whether some two members of the similar set are decided differently."""
        if self.allowed is None:
            return np.asarray((self.labels != self.labels[:, :1]).any(axis=1))
        first = self.of(self.allowed.argmax(axis=1))
        return np.asarray(((self.labels != first[:, None]) & self.allowed).any(axis=1))

    def flips(self, combination: NDArray[np.intp]) -> NDArray[np.bool_]:
        """``(n, C)``; which members are decided differently from the row's own combination."""
        differ = self.labels != self.of(combination)[:, None]
        return np.asarray(differ if self.allowed is None else differ & self.allowed)

    def of(self, combination: NDArray[np.intp]) -> NDArray[np.intp]:
        """``(n,)``; the label of each row's own combination."""
        return self.labels[np.arange(len(self.labels)), combination]

    def distance(self, combination: NDArray[np.intp]) -> NDArray[np.float32]:
        """``(n, C)``; how far each member's score is from the row's own.

        The score compared is that of the class decided for the row itself (for two classes it
        does not matter which). Those who may not be are nearer than everybody: at -1.
        """
        people = np.arange(len(self.labels))
        decided = 0 if self.scores.shape[2] == 1 else self.of(combination)
        scores: NDArray[np.float32] = self.scores[people, :, decided]
        distance = np.abs(scores - scores[people, combination, None])
        if self.allowed is not None:
            distance[~self.allowed] = -1.0
        return np.asarray(distance)


class Ledger:
    """What a search works with: it checks people, each once, and books what is found.

    "Once" and "unique" are meant on the attributes in which members of a similar set are equal:
    rows that differ in protected attributes, and in what follows these, are one person. Only
    members that break no constraint are compared, so nobody with fewer than two of them is
    discriminatory.

    Parameters
    ----------
    model : Model
        The model under audit.
    domain : Domain
        Who may be asked about.
    known : Rows, optional
        ``(n, d)``; instances that were found before: they are not booked again.
    fits : callable, optional
        Tells of ``(n, d)`` rows which may be checked, ``(n,)``; others count as rejected.

    Attributes
    ----------
    domain : Domain
        As given.
    asked : AskedModel
        The model, with a memory.
    tried : int
        Unique people checked.
    found : int
        Unique discriminatory instances among them that were given out, re-checked.
    rejected : int
        People whom the search would have gone to but may not; counted by whoever bars them.
    """

    def __init__(
        self,
        model: Model,
        domain: Domain,
        *,
        known: Rows | None = None,
        fits: Callable[[Rows], NDArray[np.bool_]] | None = None,
    ) -> None:
        self.tried = 0
        self.found = 0
        self.rejected = 0
        self.domain = domain
        self.asked = AskedModel(model)
        self._people = KeyTable()
        self._verdicts = np.zeros(1 << 12, dtype=np.bool_)
        self._pending: list[tuple[Rows, NDArray[np.intp]]] = []
        self._fits = fits
        if known is not None and len(known):
            self._people.number(known[:, domain.others])
            self._verdicts = np.ones(2 * self._people.size, dtype=np.bool_)

    def ask(self, rows: Rows) -> Answers:
        """Ask the model about the similar sets of ``(n, d)`` rows, each in the domain.

        Members that break a constraint are not sent.
        """
        scores = in_parts(self._scores, rows, len(self.domain.combinations))
        if not self.domain.ruled:
            return Answers(scores, labels(scores))
        allowed = ~np.isnan(scores[:, :, 0])
        return Answers(scores, np.where(allowed, labels(scores), -1), allowed)

    def _scores(self, rows: Rows) -> Scores:
        """Ask about everybody in the similar sets who may be."""
        similar = self.domain.similar(rows)
        everyone = similar.reshape(-1, rows.shape[1])
        if self.domain.ruled:
            allowed = self.domain.allowed(everyone)
            answers = self.asked.predict(everyone[allowed])
            scores = np.full((len(everyone), answers.shape[1]), np.nan, dtype=np.float32)
            scores[allowed] = answers
        else:
            scores = self.asked.predict(everyone)
        return scores.reshape(*similar.shape[:2], -1)

    def check(self, rows: Rows, combination: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Tell which rows are discriminatory; book those that were not met before.

        Parameters
        ----------
        rows : Rows
            ``(n, d)``, in the domain.
        combination : NDArray[np.intp]
            ``(n,)``; the index of each row's protected values in ``domain.combinations``.
        """
        numbers, new = self._people.number(rows[:, self.domain.others])
        if self._people.size > len(self._verdicts):
            self._verdicts = np.resize(self._verdicts, 2 * self._people.size)
        if new.size and self._fits is not None:
            self._verdicts[numbers[new]] = False
            fit = self._fits(rows[new])
            self.rejected += int((~fit).sum())
            new = new[fit]
        if new.size:
            verdicts = self.ask(rows[new]).discriminatory
            self._verdicts[numbers[new]] = verdicts
            hits = new[verdicts]
            self.tried += len(new)
            if hits.size:
                self._pending.append((rows[hits], combination[hits]))
        return np.asarray(self._verdicts[numbers])

    def take(self, phase: str) -> Found | None:
        """Give what was booked since the last call and is confirmed; ``None`` for no bookings."""
        if not self._pending:
            return None
        rows = np.concatenate([rows for rows, _ in self._pending])
        combination = np.concatenate([combination for _, combination in self._pending])
        self._pending.clear()
        found, confirmed = self.confirm(rows, combination, phase)
        self.found += int(confirmed.sum())
        return Found(
            rows=found.rows[confirmed],
            partners=found.partners[confirmed],
            row_scores=found.row_scores[confirmed],
            partner_scores=found.partner_scores[confirmed],
            alone=found.alone[confirmed],
            phase=phase,
        )

    def confirm(
        self, rows: Rows, combination: NDArray[np.intp], phase: str
    ) -> tuple[Found, NDArray[np.bool_]]:
        """Give each instance a partner, ask about both anew, and tell who is an instance, ``(n,)``.

        Each instance and its partner are sent to the model twice more, the second time in each
        other's place. The last bits of an answer may depend on a row's place in its batch; where
        they decide, the decision stays with the place and not with the person, and the instance
        is not confirmed.
        """
        answers = self.ask(rows)
        flips = answers.flips(combination)
        partner = np.where(flips, answers.distance(combination), -1).argmax(axis=1)
        partners = self.domain.counterparts(rows, partner)
        again = self.asked.predict_anew(np.concatenate([rows, partners]))
        swapped = self.asked.predict_anew(np.concatenate([partners, rows]))
        row_scores, partner_scores = again[: len(rows)], again[len(rows) :]
        decided, other = labels(row_scores), labels(partner_scores)
        partner_swapped, row_swapped = labels(swapped[: len(rows)]), labels(swapped[len(rows) :])
        confirmed = (decided != other) & (decided == row_swapped) & (other == partner_swapped)
        alone = self._alone(flips, combination)
        return Found(rows, partners, row_scores, partner_scores, alone, phase), confirmed

    def progress(self, phase: str, done: int, total: int) -> Progress:
        """Say how far the search is, with the counts so far."""
        return Progress(
            phase,
            done,
            total,
            self.tried,
            self.found,
            self.asked.queries,
            rejected=self.rejected,
        )

    def _alone(self, flips: NDArray[np.bool_], combination: NDArray[np.intp]) -> NDArray[np.bool_]:
        """``(n, p)``; whether some change of this one protected attribute flips the decision."""
        combinations = self.domain.combinations
        differs = combinations[combination][:, None, :] != combinations
        only = differs & (differs.sum(axis=2, keepdims=True) == 1)
        return np.asarray((only & flips[:, :, None]).any(axis=1))
