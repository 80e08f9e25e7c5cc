"""The real guest process with two things faked for speed, so that it loads no library.

A model file that ends in .txt is Python source with a function ``answer(rows, calls)``; and there
is a method “steps” that finds three people at every step.
"""

from typing import Annotated

import msgspec
import numpy as np

import fairdesk.models.open
from fairdesk.audit import guest, methods, serving
from fairdesk.events import Found, Progress, timed
from fairdesk.files import sha256
from fairdesk.models.model import ModelCard, Takes

MODEL = """
import os, sys, time
import numpy as np

def answer(rows, calls):
    {misbehaviour}
    return 1 / (1 + np.exp(-((rows[:, :1] - 45) / 12 + rows[:, 1:2] - 0.5)))

{opening}
"""


class StepsOptions(msgspec.Struct, frozen=True):
    steps: Annotated[int, msgspec.Meta(ge=1, title="Steps", description="How many.")] = 10


def search(ledger, people, options, rng):
    return timed(_steps(ledger.asked, ledger.domain, people, options.steps))


def _steps(asked, domain, people, steps):
    for i in range(steps):
        rows = people[np.arange(3 * i, 3 * i + 3) % len(people)]
        partners = rows.copy()
        partners[:, domain.protected] = 1 - rows[:, domain.protected]
        scores, others = asked.predict_anew(rows), asked.predict_anew(partners)
        alone = np.ones((3, len(domain.protected)), dtype=bool)
        yield Found(rows, partners, scores, others, alone, "global")
        yield Progress("global", i + 1, steps, 3 * i + 3, 3 * i + 3, 6 * i + 6)


STEPS = methods.Method(
    "steps", "Steps", "Finds.", "No paper", "Much.", "Nothing.", StepsOptions, search
)


class Opened:
    def __init__(self, path):
        space = {}
        exec(path.read_text(), space)
        self.answer, self.calls = space["answer"], 0
        self.card = ModelCard(
            path=str(path),
            sha256=sha256(path),
            format="Python source",
            summary="A function.",
            takes=Takes.MATRIX,
            inputs=("input 1", "input 2", "input 3"),
            named=False,
            classes=("0", "1"),
            scores="probabilities",
        )

    def matrix_scores(self, matrix):
        self.calls += 1
        return self.answer(matrix, self.calls).astype(np.float32)


def write_source(path, misbehaviour="pass", opening=""):
    path.write_text(MODEL.format(misbehaviour=misbehaviour, opening=opening))
    return path


if __name__ == "__main__":
    methods.METHODS["steps"] = STEPS
    serving.WARM_UP = ()
    real = fairdesk.models.open.open_model
    fairdesk.models.open.open_model = lambda path, **named: (
        Opened(path) if path.suffix == ".txt" else real(path, **named)
    )
    guest.main()
