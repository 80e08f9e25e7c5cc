"""Bounds that are broken on purpose, and whether the tests notice: a table.

    python -m tests.benchmarks.mutations [--only NAME ...]

Each mutation is made in a copy of the project, where the tests that are to catch it run. One that
survives is a hole in the tests. It takes a minute or two each where loops are compiled anew.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
_BOUNDS = ("tests/certify/bounds/test_dense.py", "tests/certify/bounds/test_network.py")
_TRUNCATION = ("tests/certify/bounds/test_network.py",)
_COUNTING = ("tests/certify/test_counting.py",)
_MASSES = ("tests/certify/domain/test_population.py",)
_TREES = ("tests/certify/bounds/test_tree_kernels.py",)
_PEOPLE = ("tests/certify/test_people.py",)
_TRUNCATED_PEOPLE = ("tests/certify/bounds/test_truncated_people.py",)
_PEOPLE_AGAIN = ("tests/certify/proof/test_people_again.py",)
_RATES = ("tests/certify/test_rates.py",)
_NEIGHBOURS = ("tests/certify/neighbourhoods/test_neighbourhoods.py",)
_RATES_AGAIN = ("tests/certify/proof/test_rates_again.py",)


#: How a test fails where a mutation is none: that shows nothing.
_NOT_MADE = ("TypingError", "LoweringError", "SyntaxError", "NameError", "UnboundLocalError")


class Mutation(NamedTuple):
    """A change of one line, and the tests that are to notice it."""

    what: str
    module: str
    before: str
    after: str
    tests: tuple[str, ...] = _BOUNDS


MUTATIONS = {
    "neighbour-value": Mutation(
        "the last value of an attribute that is changed is left out",
        "fairdesk/certify/neighbourhoods/boxes.py",
        "np.full_like(own, axis.count - 1)",
        "np.full_like(own, max(axis.count - 2, 0))",
        _NEIGHBOURS,
    ),
    "neighbour-reach": Mutation(
        "the farthest number within reach is left out",
        "fairdesk/certify/neighbourhoods/boxes.py",
        'return first, np.searchsorted(axis.codes, own + distance, "right") - 1',
        'return first, np.searchsorted(axis.codes, own + 0.99 * distance, "right") - 1',
        _NEIGHBOURS,
    ),
    "neighbour-choice": Mutation(
        "an attribute is never among those that change",
        "fairdesk/certify/neighbourhoods/boxes.py",
        "movable = [i for i, axis in enumerate(space.axes) if axis.position in varying]",
        "movable = [i for i, axis in enumerate(space.axes) if axis.position in varying][1:]",
        _NEIGHBOURS,
    ),
    "neighbour-rounding": Mutation(
        "around rows the model's own rounding is ignored",
        "fairdesk/certify/domain/encoded.py",
        "return n * unit / (1 - n * unit) + (n + 64) * 2.0**-52, n * tiny",
        "return 0.0, 0.0",
        _NEIGHBOURS,
    ),
    "neighbour-halves": Mutation(
        "a box of a row is certified once one of its halves is",
        "fairdesk/certify/neighbourhoods/prover.py",
        "                parts_open += np.bincount(halves.box, minlength=len(boxes))\n",
        "                parts_open[np.unique(halves.box)] += 1\n",
        _NEIGHBOURS,
    ),
    "neighbour-left-out": Mutation(
        "parts of a box that are not looked at in a round count as certified",
        "fairdesk/certify/neighbourhoods/prover.py",
        "            spent += np.bincount(now.box, minlength=len(boxes))",
        "            spent += np.bincount(now.box, minlength=len(boxes))\n"
        "            parts_open = np.bincount(now.box, minlength=len(boxes))",
        _NEIGHBOURS,
    ),
    "neighbour-constraints": Mutation(
        "two who may be in a region are nobody to compare",
        "fairdesk/certify/neighbourhoods/prover.py",
        "compared = space.unclear[root] | (space.compared[root] & (not space.alike))",
        "compared = space.unclear[root] & (space.compared[root] & (not space.alike))",
        _NEIGHBOURS,
    ),
    "neighbour-band": Mutation(
        "around rows a linear model's own rounding is ignored",
        "fairdesk/certify/neighbourhoods/boxes.py",
        "-self._most[group] - self.margin, -self._least[group] + self.margin",
        "-self._most[group], -self._least[group]",
        _NEIGHBOURS,
    ),
    "neighbour-places": Mutation(
        "around rows of a linear model the last place that reaches the boundary is left out",
        "fairdesk/certify/neighbourhoods/boxes.py",
        'np.searchsorted(self.values, before, "right") - 1)',
        'np.searchsorted(self.values, before, "right") - 2)',
        _NEIGHBOURS,
    ),
    "neighbour-boxes": Mutation(
        "a row is certified once one of its boxes is",
        "fairdesk/certify/neighbourhoods/prover.py",
        "self._certified[rows].all(axis=1)",
        "self._certified[rows].any(axis=1)",
        _NEIGHBOURS,
    ),
    "sign": Mutation(
        "the line above a ReLU is put below it",
        "fairdesk/certify/bounds/dense/activations.py",
        "    return (1.0 if high > -low else 0.0), 0.0, slope, above",
        "    return (1.0 if high > -low else 0.0), 0.0, slope, -above",
    ),
    "rounding": Mutation(
        "the model's own rounding is forgotten on the way back",
        "fairdesk/certify/bounds/dense/backward.py",
        "        constant += rising * below_at[j] + falling * above_at[j]\n"
        "        constant += slope * bias[j] - _lost(slope, eps[j])",
        "        constant += rising * below_at[j] + falling * above_at[j]\n"
        "        constant += slope * bias[j]",
    ),
    "falling": Mutation(
        "a falling coefficient takes the line below",
        "fairdesk/certify/bounds/dense/backward.py",
        "        slope = rising * below[j] + falling * above[j]",
        "        slope = rising * below[j] + falling * below[j]",
    ),
    "close": Mutation(
        "what comes after the last layer is taken for exact",
        "fairdesk/models/structure.py",
        "CLOSE = 2.0**-20",
        "CLOSE = 0.0",
    ),
    "counting": Mutation(
        "the grid's rounding is forgotten in counting",
        "fairdesk/certify/bounds/count_kernels.py",
        "    above, below, after, before = above + off, below - off, after + off, before - off",
        "    above, below, after, before = above, below, after, before",
        _COUNTING,
    ),
    "excluded": Mutation(
        "the share outside of truncated ranges is forgotten",
        "fairdesk/certify/bounds/dense/counting.py",
        "max(best, share - taken)",
        "max(best, share)",
        _TRUNCATION,
    ),
    "bundles": Mutation(
        "of combinations that are bounded together the last is left out",
        "fairdesk/certify/bounds/dense/examining.py",
        "who[start : room.until[bundle]], room.until[bundle]",
        "who[start : max(start + 1, room.until[bundle] - 1)], room.until[bundle]",
        _TRUNCATION,
    ),
    "union": Mutation(
        "what units exclude is counted once instead of for each",
        "fairdesk/certify/bounds/dense/truncation.py",
        "                total += own",
        "                total = max(total, own)",
        _TRUNCATION,
    ),
    "elsewhere": Mutation(
        "what is excluded is bounded on another box",
        "fairdesk/certify/bounds/dense/truncation.py",
        "            low, high, form[:axes], own, room.start, after, before, room.work, room.order",
        "            low, low, form[:axes], own, room.start, after, before, room.work, room.order",
        _TRUNCATION,
    ),
    "side": Mutation(
        "a unit is taken off the forms that have its line below",
        "fairdesk/certify/bounds/dense/truncation.py",
        "network.needs[c, p] and room.pulls[p, u] < 0.0",
        "network.needs[c, p] and room.pulls[p, u] > 0.0",
        _TRUNCATION,
    ),
    "excluded people": Mutation(
        "the share of the people outside of truncated ranges is forgotten",
        "fairdesk/certify/bounds/dense/counting.py",
        "max(most_people, people - taken)",
        "max(most_people, people)",
        _TRUNCATED_PEOPLE,
    ),
    "union of people": Mutation(
        "the people whom units exclude are counted once instead of for each",
        "fairdesk/certify/bounds/dense/truncation.py",
        "                total += own",
        "                total = max(total, own)",
        _TRUNCATED_PEOPLE,
    ),
    "people elsewhere": Mutation(
        "the people who are excluded are bounded on another box",
        "fairdesk/certify/bounds/dense/truncation.py",
        "                network.people, low, high, network.given, form[:axes], own, room.start,",
        "                network.people, low, low, network.given, form[:axes], own, room.start,",
        _TRUNCATED_PEOPLE,
    ),
    "earlier": Mutation(
        "what units of earlier layers exclude is not taken off what a class is counted for",
        "fairdesk/certify/bounds/dense/truncation.py",
        "            used = c < 0 or u < before_last",
        "            used = c < 0",
        _TRUNCATION,
    ),
    "both": Mutation(
        "what units exclude is not taken off the discriminatory",
        "fairdesk/certify/bounds/dense/counting.py",
        "        taken = taken_of(network, -ONE, room)",
        "        taken = 0.0",
        _TRUNCATION,
    ),
    "one end": Mutation(
        "what is beyond the upper end of a later unit's range is not excluded",
        "fairdesk/certify/bounds/dense/truncation.py",
        "            lost += _lost(network, low, high, above, limit, np.inf, second, room)",
        "            lost += 0.0 * _lost(network, low, high, above, limit, np.inf, second, room)",
        _TRUNCATION,
    ),
    "one end of people": Mutation(
        "the people beyond the upper end of a range are not excluded",
        "fairdesk/certify/bounds/dense/truncation.py",
        "    for limit, side in ((after, -1.0), (before, 1.0)):",
        "    for limit, side in ((after, -1.0), (-np.inf, 1.0)):",
        _TRUNCATED_PEOPLE,
    ),
    "together": Mutation(
        "places that a tail takes together count by the lesser of their ends",
        "fairdesk/certify/bounds/tree_tails.py",
        "exponent = max(exponent, by * _value(",
        "exponent = min(exponent, by * _value(",
        ("tests/certify/bounds/test_tree_tails.py",),
    ),
    "tail": Mutation(
        "what was taken out of the exponents of a tail is not put back",
        "fairdesk/certify/bounds/tree_tails.py",
        "    exponent = tops - by * limit + size",
        "    exponent = -by * limit + size",
        ("tests/certify/bounds/test_tree_tails.py",),
    ),
    "people again": Mutation(
        "the check forgets what cells of the population depend on",
        "fairdesk/certify/proof/verify/provers.py",
        "            told = np.tensordot(people.tables[n], own, axes=1)",
        "            told = np.tensordot(0 * people.tables[n] + people.tables[n][:1], own, 1)",
        _PEOPLE_AGAIN,
    ),
    "recounting": Mutation(
        "the check forgets the share outside of truncated ranges",
        "fairdesk/certify/proof/reproof_counting.py",
        "        certain = np.maximum(always - taken, 0.0)",
        "        certain = always",
        ("tests/certify/proof/test_reproof_counting.py",),
    ),
    "recounting once": Mutation(
        "the check takes off what the unit that excludes the most does, not what each does",
        "fairdesk/certify/proof/reproof_counting.py",
        "                taken[p] += float(row.excluded[used].sum())",
        "                taken[p] += float(row.excluded[used].max(initial=0.0))",
        ("tests/certify/proof/test_reproof_counting.py",),
    ),
    "recounting both": Mutation(
        "the check does not take off the discriminatory what is excluded",
        "fairdesk/certify/proof/reproof_counting.py",
        "        discriminatory = once.sum() - 1.0 - everything",
        "        discriminatory = once.sum() - 1.0",
        ("tests/certify/proof/test_reproof_counting.py",),
    ),
    "recounting elsewhere": Mutation(
        "the check bounds what is excluded above a range by what is below it",
        "fairdesk/certify/proof/reproof_counting.py",
        "float(until[row, cell])",
        "float(until[u, cell])",
        ("tests/certify/proof/test_reproof_counting.py",),
    ),
    "carving": Mutation(
        "a place too many is cut off a box",
        "fairdesk/certify/domain/box_kernels.py",
        "                    at, gone = new_low[b, i] - 1, 0",
        "                    at, gone = new_low[b, i], 0",
        ("tests/certify/test_refine.py",),
    ),
    "constraints": Mutation(
        "boxes of several kinds are taken for one",
        "fairdesk/certify/domain/boxes.py",
        "(inside == inside.flat[0]).all()",
        "(inside == inside.flat[0]).any()",
        ("tests/certify/domain/test_constraint_partition.py",),
    ),
    "message": Mutation(
        "what a node tells its parent in the population is forgotten",
        "fairdesk/certify/domain/population_kernels.py",
        "            seen[to + j] *= said",
        "            seen[to + j] *= min(said, 1.0) ** 0.0",
        _MASSES,
    ),
    "cell": Mutation(
        "a part of a cell is taken for all of it",
        "fairdesk/certify/domain/population_kernels.py",
        "                seen[cell] += weight / tree.whole[cell]",
        "                seen[cell] = 1.0",
        _MASSES,
    ),
    "unclear": Mutation(
        "the mass of where it is not clear who may be is left out of everything",
        "fairdesk/certify/domain/space.py",
        "[self.groups] | self.unclear)",
        "[self.groups] & ~self.unclear)",
        (*_MASSES, *_PEOPLE),
    ),
    "unclear groups": Mutation(
        "the mass of where it is not clear who may be is left out of groups' rates",
        "fairdesk/certify/rates.py",
        "np.flatnonzero(own | space.unclear)",
        "np.flatnonzero(own & ~space.unclear)",
        _RATES,
    ),
    "protected": Mutation(
        "people are counted whatever their protected values",
        "fairdesk/certify/bounds/tree_kernels.py",
        "    weigh(tree, low, high, given, room.seen)",
        "    weigh(tree, low, high, given, room.seen)\n"
        "    for k in range(given.size):\n"
        "        room.seen[k] = max(room.seen[k], 1.0 - given[k])",
        (*_TREES, *_RATES),
    ),
    "told": Mutation(
        "a parent is told of the sums of its first child only",
        "fairdesk/certify/bounds/tree_kernels.py",
        "        put(old[: before + support - 1], new)",
        "        old[before : before + support - 1] = 0.0",
        _TREES,
    ),
    "tree grid": Mutation(
        "the grid's rounding is forgotten in counting people",
        "fairdesk/certify/bounds/tree_kernels.py",
        "        *(above + off, below - off, after + off, before - off),",
        "        *(above, below, after, before),",
        _TREES,
    ),
    "cells": Mutation(
        "people are counted as if cells did not depend on their parents'",
        "fairdesk/certify/bounds/tree_kernels.py",
        "                    tree.tables[at + j * cells + k],",
        "                    tree.tables[at + k],",
        _TREES,
    ),
    "cut off": Mutation(
        "what is cut off a box is forgotten to be consistent, and its mass counted with the rest",
        "fairdesk/certify/refine.py",
        "self._add_people(people.masses(found.low[smaller], found.high[smaller]), -1.0, 0.0)",
        "pass",
        _PEOPLE,
    ),
    "counted": Mutation(
        "all people of a counted box are taken for consistent",
        "fairdesk/certify/counting/exhaustive.py",
        "    return np.maximum(1.0 - share * (1.0 + slack) - slack, 0.0), share * (1.0 - slack)",
        "    return np.ones(len(share)), share * (1.0 - slack)",
        _PEOPLE,
    ),
    "booked": Mutation(
        "what is proven of a part of an undecided box is left out of the sums",
        "fairdesk/certify/refine.py",
        "proves |= shares[leaves] != 0.0",
        "pass",
        ("tests/certify/test_refine.py",),
    ),
    "narrowed": Mutation(
        "boxes of rates are narrowed, and what is cut off is counted with the rest",
        "fairdesk/certify/bounds/rates.py",
        "        limits[WORTH] = 0.0",
        "        limits[WORTH] = 0.9",
        _RATES,
    ),
    "forgotten": Mutation(
        "a dense box is counted, and what its bounds decided is added as well",
        "fairdesk/certify/refine.py",
        "            self._forget(chosen[now])\n",
        "",
        _PEOPLE,
    ),
    "twice": Mutation(
        "a box that was divided is counted as well",
        "fairdesk/certify/refine.py",
        "        is_open = (tree.first[nodes] < 0) & ",
        "        is_open = (tree.first[nodes] < len(tree.first)) | ",
        _PEOPLE,
    ),
    "densest": Mutation(
        "the density of a part of a cell is taken for that of all of it",
        "fairdesk/certify/domain/density_kernels.py",
        "mass = gone + each * (weight_before(tree, i, cut + 1) - start)",
        "mass = gone + each * (weight_before(tree, i, last + 1) - start)",
        _MASSES,
    ),
    "small": Mutation(
        "points of small boxes of rates are weighed whatever the protected values",
        "fairdesk/certify/bounds/rates.py",
        "self._people.masses(places[decided], places[decided], given)",
        "self._people.masses(places[decided], places[decided])",
        _RATES,
    ),
    "queries": Mutation(
        "rows that are asked for rates are not counted",
        "fairdesk/certify/rates.py",
        "            self.queries += found.queries\n",
        "",
        _RATES,
    ),
    "halved": Mutation(
        "what a box of rates decided is counted again with its halves",
        "fairdesk/certify/rates.py",
        "        self._mass[chosen] = self._favourable[chosen] = self._other[chosen] = 0.0\n",
        "",
        _RATES,
    ),
    "whole": Mutation(
        "shares are apart by more than a number where one of them rounds to everything",
        "fairdesk/certify/domain/density_kernels.py",
        "    if mass < 1.0 and points < 1.0:",
        "    if mass < 1.0:",
        _MASSES,
    ),
    "left over": Mutation(
        "what another box excluded is taken off as well",
        "fairdesk/certify/bounds/dense/examining.py",
        "        room.cuts[:] = 0.0",
        "        room.cuts[:] *= 1.0",
        _TRUNCATED_PEOPLE,
    ),
    "not recounted": Mutation(
        "the check recounts the people of no region",
        "fairdesk/certify/proof/verify/population.py",
        "            chosen = chosen[np.cumsum(self._sizes[chosen]) <= _RECOUNTED]",
        "            chosen = chosen[:0]",
        _PEOPLE,
    ),
    "recounted in part": Mutation(
        "the check recounts some of the people of a region for all of them",
        "fairdesk/certify/proof/verify/population.py",
        "        for start in range(0, int(until[-1]) if len(chosen) else 0, _AT_ONCE):",
        "        for start in range(0, min(1, len(chosen)), _AT_ONCE):",
        _PEOPLE,
    ),
    "forged": Mutation(
        "the check refutes no region of rates",
        "fairdesk/certify/proof/reproof_rates.py",
        "            contradicted[b] = BY_COUNT",
        "            contradicted[b] = 0",
        _RATES_AGAIN,
    ),
    "parts twice": Mutation(
        "the check counts parts of regions of rates that it asked about, and their halves",
        "fairdesk/certify/proof/reproof_rates.py",
        "            left = np.flatnonzero(is_open & ~few)",
        "            left = np.flatnonzero(is_open)",
        _RATES_AGAIN,
    ),
    "given": Mutation(
        "the check counts people in regions of rates whatever their protected values",
        "fairdesk/certify/proof/verify/provers.py",
        "                own = own * people.shares_given[n][:, None, None]",
        "                own = own * (people.shares_given[n][:, None, None] >= 0.0)",
        _RATES_AGAIN,
    ),
    "groups": Mutation(
        "the check does not miss a group without a rate",
        "fairdesk/certify/proof/verify/rates.py",
        "        if list(stated) != list(ends):",
        "        if not set(stated) <= set(ends):",
        _RATES_AGAIN,
    ),
    "outwards": Mutation(
        "a rate's upper end forgets who is undecided",
        "fairdesk/certify/rates.py",
        "float(np.nextafter(1.0 - other, 2.0))",
        "float(np.nextafter(0.5 + low / 2.0 - other / 2.0, 2.0))",
        _RATES,
    ),
}


def caught(mutation: Mutation) -> tuple[str, float]:
    """Make a mutation in a copy, run its tests; give the test that noticed, and the seconds."""
    started = perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "project")
        text = (ROOT / mutation.module).read_text()
        # loops keep what they were compiled with of other modules, of this part of the project
        part = Path(ROOT, *Path(mutation.module).parts[:2]) if "numba" in text else None

        def left_out(folder: str, names: list[str]) -> set[str]:
            stale = ("__pycache__",) if part and Path(folder).is_relative_to(part) else ()
            return shutil.ignore_patterns(".git", ".venv", ".*cache", *stale)(folder, names)

        shutil.copytree(ROOT, copy, ignore=left_out)
        module = copy / mutation.module
        if text.count(mutation.before) < 1:
            raise SystemExit(f"“{mutation.what}”: the line is not there any more.")
        module.write_text(text.replace(mutation.before, mutation.after))
        environment = os.environ | {"PYTHONPATH": str(copy)}
        if part:
            environment["NUMBA_CACHE_DIR"] = str(Path(folder, "compiled"))
        told = subprocess.run(
            (
                sys.executable,
                "-m",
                "pytest",
                "-qx",
                "--tb=no",
                "-pno:cacheprovider",
                *mutation.tests,
            ),
            cwd=copy,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    if told.returncode not in (0, 1):
        raise SystemExit(f"“{mutation.what}”: the tests could not run.\n{told.stdout}")
    failed = [line for line in told.stdout.splitlines() if line.startswith("FAILED")]
    if any(error in line for line in failed for error in _NOT_MADE):
        raise SystemExit(f"“{mutation.what}” cannot be compiled: {failed[0]}")
    name = failed[0].split("::")[1].split(" ")[0] if failed else ""
    return name, perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=MUTATIONS, default=list(MUTATIONS))
    survivors = 0
    for name in parser.parse_args().only:
        mutation = MUTATIONS[name]
        noticed, seconds = caught(mutation)
        survivors += not noticed
        told = f"caught by {noticed}" if noticed else "SURVIVED"
        print(f"{name:12} {mutation.what:55} {told} ({seconds:.0f} s)", flush=True)
    print(f"{survivors} survived.")


if __name__ == "__main__":
    main()
