"""The real guest process with two things faked for speed, so that it loads no library.

A model file that ends in .txt is Python source with a function ``answer(rows, calls)``; and there
are four methods: “steps” finds three people at every step, “proves” asks about everybody, “mines”
compares the first person’s value of each protected attribute with all others, by what was decided.
Repairs with pairs “train” by asking about seven people at a time.
"""

from typing import Annotated

import msgspec
import numpy as np

import fairdesk.models.open
from fairdesk.audit.catalogue import implementations, methods
from fairdesk.audit.catalogue.method import Method, QuestionKind
from fairdesk.audit.worker import guest
from fairdesk.audit.worker import server as serving
from fairdesk.certify.proof import certificate
from fairdesk.files import sha256
from fairdesk.models.model import Hints
from fairdesk.results.events import Found, Measured, Progress, timed
from fairdesk.results.mitigation import Augmented, Change, Measure, Repair, Retrained, Trial
from fairdesk.results.proofs import Condition, Proven
from fairdesk.results.subgroups import RuleSearchSummary, RuleSet
from tests.cards import card
from tests.certify.proofs import honest

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


def search(context, people, options, rng):
    return timed(_steps(context.cached_model, context.domain, people, options.steps))


def _steps(asked, domain, people, steps):
    for i in range(steps):
        rows = people[np.arange(3 * i, 3 * i + 3) % len(people)]
        partners = rows.copy()
        partners[:, domain.protected] = 1 - rows[:, domain.protected]
        scores, others = asked.predict_anew(rows), asked.predict_anew(partners)
        alone = np.ones((3, len(domain.protected)), dtype=bool)
        yield Found(rows, partners, scores, others, alone, "global")
        yield Progress("global", i + 1, steps, 3 * i + 3, 3 * i + 3, 6 * i + 6)


def said(title):
    """Return what the catalogue says of a method, in few words."""
    words = {"title": title, "sentence": f"{title}.", "paper": "No paper"}
    return words | {"shows": "Much.", "cannot": "Nothing."}


STEPS = Method("steps", StepsOptions, **said("Steps"))


class ProvesOptions(msgspec.Struct, frozen=True):
    seconds: Annotated[float, msgspec.Meta(ge=0, title="Seconds", description="Long.")] = 60.0


def prove(context, people, options, rng):
    event = honest(context.domain, context.cached_model.predict)
    told = certificate.decoded(event.header)
    proven = Proven(
        of="domain",
        attributes=("sex",),
        certified=told.certified_share,
        falsified=told.falsified_share,
        undecided=told.undecided_share,
        total=told.total,
        certified_people=told.certified,
        falsified_people=told.falsified,
        boxes=told.boxes,
        seconds=told.seconds,
        margin=told.margin,
    )
    yield Measured("proving", (proven,))
    yield event
    yield context.progress("proving", 1, 1)


PROVES = Method(
    "proves",
    ProvesOptions,
    QuestionKind.PROOF,
    **said("Proves"),
)


class MinesOptions(msgspec.Struct, frozen=True):
    bins: Annotated[int, msgspec.Meta(ge=2, title="Bins", description="How many.")] = 10


def mine(study, people, options, rng):
    decided = study.label if study.model is None else study.predict(people)[:, 0] > 0.5
    mined = RuleSearchSummary(
        outcome=study.decisions[study.favourable],
        attributes=tuple(each.name for each in study.domain.grouping),
        theta=0.05,
        rule_sets=len(study.domain.grouping),
        candidates=len(study.domain.grouping),
        samples=len(people),
        margin=0.04,
        seconds=0.1,
        notes=(f"{study.edges} {study.text} {study.terms}",),
    )
    found = [mined]
    for column, each in enumerate(study.domain.grouping):
        first, *_ = values = study.groups[study.inside, column].tolist()
        inside = np.array(values) == first
        ends = (None, None) if each.values else (first, first)
        rates = float(decided[inside].mean()), float(decided[~inside].mean())
        found.append(
            RuleSet(
                (Condition(each.name, (first,) if each.values else (), *ends),),
                mined.outcome,
                *(abs(rates[0] - rates[1]), *rates, 0.04, 0.9),
                *(float(inside.mean()), int(inside.sum()), 100, 100, -1.0, 1.0, 0.5),
            )
        )
    yield Measured("mining", tuple(found))
    yield Progress("mining", 1, 1, len(people), 0, study.queries)


MINES = Method(
    "mines",
    MinesOptions,
    QuestionKind.GROUPS,
    **said("Mines"),
    needs=(),
    reads=True,
    divides=True,
)


def mend(mitigation, people, options, rng):
    count = len(mitigation.pairs)
    rows = np.concatenate([mitigation.pairs, mitigation.partners])
    order = np.arange(2 * count).reshape(2, count).T.ravel()
    numbers = np.concatenate([mitigation.numbers] * 2)[order]
    labels = mitigation.target[np.arange(2 * count) % len(mitigation.rows)]
    yield Augmented("making", rows[order], labels, numbers, np.zeros(2 * count, dtype=np.int64))
    share = Measure("share_domain", "", "domain", 0.1, 0.08, 0.12, len(people))
    trials = [Trial(0, "imported", measures=(share,))]
    told = Repair(
        *("share_domain", -1, count, 2 * count, options.labels),
        *(len(mitigation.usable), 0, mitigation.flagged),
        *(options.accuracy_loss, True, f"{len(mitigation.usable)} rows were of use."),
    )
    while len(trials) < options.batch and not mitigation.ending:
        yield Measured("training", (told, *trials))
        yield Progress("training", len(trials), options.batch, 0, 0, mitigation.queries)
        mitigation.predict(mitigation.model, people[:7])
        last = len(trials)
        less = msgspec.structs.replace(share, estimate=0.1 / last)
        change = Change("share_domain", "", "domain", 0, 0.1 / last - 0.1, -0.1, 0.0)
        kind, verdict = ("retrained", "") if last == 1 else ("portion", "better")
        trials.append(Trial(last, kind, "", 1.0, last, (less,), (change,), 0.1, verdict))
        told = msgspec.structs.replace(told, chosen=last)
    yield Measured("training", (told, *trials))
    for name, content in (("model.joblib", b"a model"), ("model.onnx", b"")):
        file = np.frombuffer(content, np.int8)
        yield Retrained("saving", len(trials) - 1, name, f"This is {name}.", file)
    yield Progress("saving", 1, 1, 0, 0, mitigation.queries)


class Opened:
    def __init__(self, path):
        space = {}
        exec(path.read_text(), space)
        self.answer, self.calls = space["answer"], 0
        self.card = card(
            width=3,
            path=str(path),
            sha256=sha256(path),
            format="Python source",
            summary="A function.",
            classes=("0", "1"),
            hints=Hints(codes={"sex": {"female": 0.0, "male": 1.0}}),
        )

    def matrix_scores(self, matrix):
        self.calls += 1
        return self.answer(matrix, self.calls).astype(np.float32)


def write_source(path, misbehaviour="pass", opening=""):
    path.write_text(MODEL.format(misbehaviour=misbehaviour, opening=opening))
    return path


if __name__ == "__main__":
    methods.METHODS |= {"steps": STEPS, "proves": PROVES, "mines": MINES}
    here = {"steps": "search", "proves": "prove", "mines": "mine", "repair-aequitas": "mend"}
    implementations.IMPLEMENTATIONS |= {
        key: implementations.Implementation("__main__", function) for key, function in here.items()
    }
    serving.WARM_UP = ()
    real = fairdesk.models.open.open_model
    fairdesk.models.open.open_model = lambda path, **named: (
        Opened(path) if path.suffix == ".txt" else real(path, **named)
    )
    guest.main()
