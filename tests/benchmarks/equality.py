"""Whether another version of FairDesk finds and measures the same: run before and after a change.

    python -m tests.benchmarks.equality write before.json
    python -m tests.benchmarks.equality compare before.json

Audits the built-in samples and, where they are at hand, real models, by every method with fixed
seeds and budgets, through the command line. Keeps digests of the files that leave each audit, the
figures that ``--json`` prints and the numbers in the report's JSON; times and sentences aside.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tests.benchmarks.measuring import DATA

SAMPLES = Path(__file__).parents[2] / "resources" / "samples"
SEARCHES = (
    *("quick", "maft", "aequitas-random", "aequitas-semi", "aequitas-full"),
    *("sg", "uniform", "estimate", "themis", "testsgd", "groups", "themis-groups"),
)
GRADIENTS = ("eidig", "adf", "diagnose")
#: Members that hold a time, a version, an identity or a sentence.
ASIDE = re.compile(
    r"second|time|course|message|warning|files|version|title|text|sentence|note|name|id$"
)
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
#: Moments and durations in sentences.
MOMENT = re.compile(r"\d+(?::\d+)+|\d+(?:[.,]\d+)*(?:\\u00a0|\s)(?:ms|s|min|h|seconds|minutes)\b")


class Case(NamedTuple):
    """One audit: what the command is given, and by which methods."""

    arguments: tuple[str, ...]
    methods: tuple[str, ...]
    rows: int = 40_000


def cases() -> dict[str, Case]:
    """Return the audits by name; those of real models only where these are at hand."""
    adult, loan = SAMPLES / "adult", SAMPLES / "loanapp"
    income = ("--label", "income", "--favourable", ">50K")
    who = ("--protected", "sex", "--protected", "race")
    table = ("--data", str(adult / "adult.csv"), *income, *who)
    approved = ("--label", "approved", "--favourable", "yes", *who)
    found = {
        "sample adult, network": Case(
            (*table, "--model", str(adult / "adult_network.keras")),
            (*SEARCHES, *GRADIENTS, "certify", "fairfictplay"),
        ),
        "sample adult, ONNX": Case(
            (*table, "--model", str(adult / "adult_network.onnx")), ("maft", "aequitas-full")
        ),
        "sample adult, pipeline": Case(
            (*table, "--model", str(adult / "adult_pipeline.pkl")), ("maft", "certify", "groups")
        ),
        "sample loanapp": Case(
            (
                *approved,
                *("--data", str(loan / "loanapp.csv")),
                *("--model", str(loan / "loanapp_pipeline.joblib")),
            ),
            (*SEARCHES, "fairfictplay"),
        ),
    }
    real = {
        "census": ("eidig_census.csv", "eidig_adult.h5", ("sex", "race", "age")),
        "german": ("eidig_german.csv", "eidig_german.h5", ("AgeInYears",)),
        "AC-1": ("fairify_adult.csv", "AC-1.h5", ("sex",)),
    }
    # certify ends by the clock where it does not come to its end within the budget of rows
    for name, (data, model, protected) in real.items():
        path = DATA / "encoded" / data
        if path.exists():
            header = path.open().readline().strip().split(",")
            given = [each for each in protected if each in header]
            arguments = ["--data", str(path), "--model", str(DATA / "models" / model)]
            arguments += ["--label", header[-1], "--favourable", "1"]
            for each in given:
                arguments += ["--protected", each]
            found[name] = Case(
                tuple(arguments), (*SEARCHES, *GRADIENTS, *(["certify"] if name == "AC-1" else ()))
            )
    return found


def audited(case: Case) -> dict[str, Any]:
    """Return what one audit comes to: figures, and digests of its files."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "fairdesk", "audit", *case.arguments]
        for method in case.methods:
            command += ["--method", method]
        command += ["--rows", str(case.rows), "--seed", "3", "--out", folder, "--json"]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        if ended.returncode:
            return {"failed": ended.stderr.strip()}
        found: dict[str, Any] = {"figures": without_texts(json.loads(ended.stdout))}
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "fairdesk", "report", f"{folder}/audit.fairdesk"]
        command += ["--format", "json", "--out", str(report)]
        subprocess.run(command, capture_output=True, check=True)
        found["report"] = dict(numbers(json.loads(report.read_text())))
        for path in sorted(Path(folder).rglob("*.csv")):
            found[path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
        for path in Path(folder).glob("*.fairdesk-proof"):
            found[path.name] = arrays(path)
        return found


def without_texts(told: Any) -> Any:
    """Return JSON without times and sentences."""
    if isinstance(told, dict):
        return {k: without_texts(v) for k, v in told.items() if not ASIDE.search(k)}
    if isinstance(told, list):
        return [without_texts(each) for each in told]
    return told


def numbers(report: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Yield all numbers in each section's tables and statements, in their order."""
    for section in report["sections"]:
        if section["key"] == "evidence":  # fingerprints of files that hold times
            continue
        told = [
            NUMBER.findall(MOMENT.sub("", json.dumps(block, sort_keys=True)))
            for block in section["blocks"]
            if block["type"] in {"grid", "statement", "facts"}
        ]
        yield section["key"], [each for block in told for each in block]


def arrays(certificate: Path) -> dict[str, str]:
    """Return the digest of each array of a certificate."""
    with zipfile.ZipFile(certificate) as archive:
        return {
            name: hashlib.sha256(np.load(archive.open(name)).tobytes()).hexdigest()
            for name in sorted(archive.namelist())
            if name.endswith(".npy")
        }


def differences(before: Any, after: Any, where: str = "") -> Iterator[str]:
    """Yield where two versions differ, each with both values."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted({*before, *after}):
            yield from differences(before.get(key), after.get(key), f"{where}/{key}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for i, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from differences(one, other, f"{where}/{i}")
    elif before != after:
        yield f"{where}: {str(before)[:90]} -> {str(after)[:90]}"


def main() -> None:
    """Write what this version comes to, or hold it against what was written."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=("write", "compare"))
    parser.add_argument("file", type=Path)
    arguments = parser.parse_args()
    before = json.loads(arguments.file.read_text()) if arguments.what == "compare" else {}
    after = {}
    for name, case in cases().items():
        after[name] = json.loads(json.dumps(audited(case)))
        if arguments.what == "write":
            print(
                name, ("failed" in after[name] and after[name]["failed"]) or "written", flush=True
            )
        else:
            found = list(differences(before.get(name), after[name]))
            print(f"{name}: {'equal' if not found else f'{len(found)} differences'}", flush=True)
            for each in found[:20]:
                print("   ", each)
    if arguments.what == "write":
        arguments.file.write_text(json.dumps(after, indent=1))


if __name__ == "__main__":
    main()
