"""The arguments of the ``fairdesk`` command, and the question that they ask."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn, get_args

import msgspec

from fairdesk import __version__
from fairdesk.app.headless import (
    AUDIT_FILE,
    CERTIFICATE,
    MANIFEST,
    OUTPUTS,
    Question,
    RepairQuestion,
    ReportQuestion,
)
from fairdesk.audit.catalogue.methods import METHODS, parse_options
from fairdesk.audit.catalogue.options import option_named, options_of
from fairdesk.audit.plan.plan import Limits, read_limits, read_terms
from fairdesk.audit.plan.spec import Budget, OptionValue, RunSpec
from fairdesk.audit.runs.inspection import Subject
from fairdesk.audit.store.details import LanguageKey, Paper, Redaction, Standard, TemplateKey
from fairdesk.audit.verify.certificate import CertificateCheckRequest
from fairdesk.audit.verify.checks import VerifyRequest
from fairdesk.audit.verify.reproducing import ReproduceRequest
from fairdesk.certify.proof.certificate import SUFFIX
from fairdesk.data.columns.kinds import as_numbers
from fairdesk.data.columns.number_formats import format_of
from fairdesk.data.table import ColumnReading
from fairdesk.errors import SpecError
from fairdesk.mitigate.options import RepairOptions
from fairdesk.report.content.kinds import TEMPLATES
from fairdesk.report.document import Format
from fairdesk.samples import samples

#: The exit code of a wrong command line.
USAGE = 2
#: So many people are drawn from the boxes of each kind of a certificate.
_POINTS = 10_000
#: Arguments that are called otherwise than what they are kept in.
_SPELT = {"trust_certificate": "trust-certificate", "exported": "file"}
#: The repairs by their names here.
_REPAIRS = {"aequitas": "repair-aequitas", "testsgd": "repair-testsgd"}

_OUT_HELP = (
    f"the folder for the results: {AUDIT_FILE}, {', '.join(OUTPUTS)}, {MANIFEST} with the "
    f"fingerprints of all, and {CERTIFICATE} where something was proven; made when it is missing. "
    "Nothing is overwritten: the files of an earlier audit in it are moved to a folder earlier-1, "
    "earlier-2, ... inside it"
)
_EPILOG = """\
The label column is never an input of the model. Several protected columns are varied together.
The exit code is 0 when the audit is done, 1 when it failed (one line on standard error says
why), 2 for a wrong command line, 130 when it was stopped with Ctrl-C or SIGTERM: what was found
until then is kept and written.
"""
_REPAIR_EPILOG = """\
The exit code is 0 also when nothing was shown to help: then that is said, also in the files, which
are those of the portion that left least to repair. It is 1 when the repair failed (one line on
standard error says why), 2 for a wrong command line, 130 when it was stopped with Ctrl-C or
SIGTERM: what was measured until then is kept and written.
"""
_REPORT_EPILOG = """\
The exit code is 0 when the report is written, 1 when it is not (one line on standard error says
why), 2 for a wrong command line. An audit that cannot be written to is reported on all the same;
then it is said that nothing could be logged.
"""
_VERIFY_EPILOG = """\
The exit code is 0 when nothing differs, 1 when something does, or nothing could be checked; what
could not be checked is told, and does not change the code. 130 when it was stopped with Ctrl-C or
SIGTERM. The audit is only read. The model’s file is trusted by its fingerprint, and its process for
the model’s answers.
"""
_REPRODUCE_EPILOG = """\
The exit code is 0 when everything came out alike, 1 when something did not, or it failed, 2 for a
wrong command line, 130 when it was stopped with Ctrl-C or SIGTERM. What differs is told with the
versions that are others than then.
"""


class _Parser(argparse.ArgumentParser):
    """Tells what is wrong with the command line in one line."""

    def error(self, message: str) -> NoReturn:
        said = message[:1].upper() + message[1:]
        self.exit(USAGE, f"{self.prog}: {said}. See “{self.prog} --help”.\n")


def parser() -> argparse.ArgumentParser:
    """Make the parser of the whole command line."""
    parser = _Parser(
        prog="fairdesk",
        description="Find discrimination in trained models. Without a command the window opens.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"FairDesk {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)

    opening = commands.add_parser("open", help="open the window on an audit file")
    opening.add_argument("file", metavar="FILE", nargs="?", help="an audit (.fairdesk)")

    inspecting = commands.add_parser(
        "inspect",
        help="open a table and a model and tell how they fit together",
        description="Open a table and a model, fit them together, try the model on the rows, and "
        "tell what came of it. Nothing is audited and nothing is written.",
        allow_abbrev=False,
    )
    _add_subject(inspecting)
    _add_json(inspecting)

    auditing = commands.add_parser(
        "audit",
        help="audit a model without the window",
        description="Audit a model without the window.",
        epilog=_EPILOG,
        allow_abbrev=False,
    )
    _add_subject(auditing)
    add = auditing.add_argument
    auditing.set_defaults(refuse=auditing.error)
    add(
        "--protected",
        metavar="COL",
        action="append",
        default=[],
        help="a protected column; may be repeated. One that the model is not given tells groups "
        "apart only. May be left out where there is a --text-column",
    )
    add(
        "--domain",
        metavar="FILE",
        type=Path,
        help="JSON: attribute -> [low, high] or a list of values; by default as in the data. Or "
        '{"attributes": {...}, "constraints": ["husband implies sex = Male", ...]}',
    )
    add(
        "--method",
        choices=METHODS,
        action="append",
        help="how to search or measure (default: maft, or testsgd with a --text-column; of a "
        "column of decisions alone: none); may be repeated, to compare methods",
    )
    add(
        "--option",
        metavar="NAME=VALUE",
        nargs="+",
        action="extend",
        default=[],
        help="parameters of the method by their names in its paper; may be repeated; of one of "
        "several methods as METHOD.NAME=VALUE. "
        + "; ".join(f"{key}: {', '.join(_names(key))}" for key in METHODS),
    )
    add(
        "--terms",
        metavar="FILE",
        type=Path,
        help='JSON: the terms that are compared in a text, by category, like {"gender": ["gay", '
        '"straight"], ...}; by default those of the paper',
    )
    add(
        "--bins",
        metavar="COL=X,X,...",
        action="append",
        default=[],
        help="for rules about groups: the edges at which a protected number is divided, like "
        "age=25,40,60; may be repeated; by default into bins of equal width",
    )
    add("--seconds", metavar="S", type=float, help="end each method after so many seconds")
    add(
        "--rows",
        metavar="N",
        type=int,
        help="end each method after so many rows were sent to the model",
    )
    add(
        "--near",
        metavar="D",
        type=float,
        help="ask only about people at most so far from a real one (Gower distance, 0 to 1)",
    )
    _add_common(auditing)

    repairing = commands.add_parser(
        "repair",
        help="retrain the model of an audit against what was found",
        description="Make rows of what an audit has found, add them to the training data, retrain "
        "the model, and measure it before and after on rows that it was never trained on. The "
        "repair becomes a run of that audit; the rows, and the model, are exported.",
        epilog=_REPAIR_EPILOG,
        allow_abbrev=False,
    )
    _add_repair(repairing)
    _add_json(repairing)

    verifying = commands.add_parser(
        "verify",
        help="check an audit, or a certificate, again",
        description="Check an audit again: that its log is a whole chain and tells what the file "
        "holds, that data and model are the audited ones, what the model says of every reported "
        "pair, tables of groups, certificates, and the files that were exported. Or check a "
        "certificate again, by other means than it was made with: its sums in whole numbers, the "
        "model’s own answers for people drawn at random, and a solver (z3) that looks for somebody "
        "of whom the opposite is true.",
        epilog=_VERIFY_EPILOG,
        allow_abbrev=False,
    )
    _add_verification(verifying)
    _add_json(verifying)

    reproducing = commands.add_parser(
        "reproduce",
        help="run an audit again, and compare",
        description="Run everything that an audit has run once more, with the same seeds, options, "
        "budgets and edges, in a new audit, and compare the two run by run.",
        epilog=_REPRODUCE_EPILOG,
        allow_abbrev=False,
    )
    _add_reproduction(reproducing)
    _add_json(reproducing)

    reporting = commands.add_parser(
        "report",
        help="write the report of an audit",
        description="Write the report of an audit, and beside it a manifest with the fingerprint "
        "of what was written. What is not told here is as the audit has it; what is told holds for "
        "this report only, but for details and --final, which the audit keeps.",
        epilog=_REPORT_EPILOG,
        allow_abbrev=False,
    )
    _add_report(reporting)
    _add_json(reporting)

    demo = commands.add_parser(
        "demo",
        help="audit the built-in sample",
        description="Audit the built-in sample, with a short search: income in the US census, a "
        "Keras network.",
        epilog=_EPILOG,
        allow_abbrev=False,
    )
    _add_common(demo)
    return parser


def _add_repair(parser: argparse.ArgumentParser) -> None:
    """Add what an audit's model is repaired with."""
    add = parser.add_argument
    parser.set_defaults(refuse=parser.error)
    add("audit", metavar="AUDIT", type=Path, help="the audit (.fairdesk)")
    add(
        "--method",
        choices=_REPAIRS,
        required=True,
        help="aequitas: with the discriminatory pairs that were found; testsgd: against a rule "
        "set that TestSGD has found",
    )
    add(
        "--labels",
        choices=option_named(options_of(RepairOptions), "labels").choices,
        help="where the labels of the added rows come from: the majority of five models trained "
        "on the original data (the default), the majority of the model’s decisions on a person’s "
        "similar people, the model’s own decision, or the nearest real people. testsgd always "
        "gives the label opposite to the model’s decision",
    )
    add(
        "--option",
        metavar="NAME=VALUE",
        nargs="+",
        action="extend",
        default=[],
        help="parameters of the method; may be repeated. "
        + "; ".join(f"{name}: {', '.join(_names(key))}" for name, key in _REPAIRS.items()),
    )
    add(
        "--pairs-of",
        metavar="RUN",
        type=_seed,
        action="append",
        default=[],
        help="only the pairs that this run found, by its number; may be repeated",
    )
    add("--flagged", action="store_true", help="only the pairs that were flagged")
    add(
        "--rule",
        metavar="N",
        type=_seed,
        help="the N-th rule set of the last TestSGD run, as rule_sets.csv ranks them (default: "
        "the one with the highest score)",
    )
    add("--seed", metavar="N", type=_seed, default=0, help="of all randomness (default: 0)")
    add(
        "--seconds",
        metavar="S",
        type=float,
        help="begin no further portion after so many seconds",
    )
    add(
        "--trial",
        metavar="N",
        type=_seed,
        help="export this trial, by its number, instead of the one that is chosen",
    )
    add(
        "--provenance",
        choices=("sidecar", "columns"),
        default="sidecar",
        help="where it is told of each row what it comes from: in a file beside the data (the "
        "default), or in columns of the data",
    )
    add("--model", metavar="M", type=Path, help="where the model file is now, if it was moved")
    add(
        "--trust-model",
        action="store_true",
        help="open a model file, or a file beside it, that is a program: whatever its author put "
        "into it runs",
    )
    add(
        "--out",
        metavar="FOLDER",
        type=Path,
        required=True,
        help="the folder for what is exported; made when it is missing. Nothing is overwritten: "
        "the files of an earlier repair in it are moved to a folder earlier-1, earlier-2, ... "
        "inside it",
    )


def _add_report(parser: argparse.ArgumentParser) -> None:
    """Add how a report is wanted."""
    add = parser.add_argument
    parser.set_defaults(refuse=parser.error)
    add("audit", metavar="AUDIT", type=Path, help="the audit (.fairdesk)")
    add("--template", choices=get_args(TemplateKey), help=f"which kind: {_templates()}")
    add("--format", choices=get_args(Format), default="pdf", help="(default: pdf)")
    add("--out", metavar="FILE", type=Path, help="the report’s file; what is there is replaced")
    add(
        "--details",
        metavar="FILE",
        type=Path,
        help="JSON: what only people can tell, by the names of the fields, with “signers”, "
        "“categories” and “logo”; kept in the audit",
    )
    add("--logo", metavar="FILE", type=Path, help="a picture for the cover; kept in the audit")
    add(
        "--final",
        action="store_true",
        help="mark the report as final; refused while a required field is empty",
    )
    add("--paper", choices=get_args(Paper), help="the size of its pages")
    add(
        "--language",
        choices=get_args(LanguageKey),
        help="of numbers, dates and, with a catalogue, of texts",
    )
    add(
        "--redact",
        choices=get_args(Redaction),
        help="what is shown of single people: everything, only invented ones, or values in bands",
    )
    add("--standard", choices=get_args(Standard), help="what the PDF promises")
    add(
        "--leave-out",
        metavar="KEY",
        action="append",
        default=[],
        help="drop a section, chart or table; may be repeated",
    )
    add(
        "--add",
        metavar="KEY",
        action="append",
        default=[],
        help="show a chart or table that is not shown by default, or was dropped; may be repeated",
    )
    add("--list-parts", action="store_true", help="list what can be dropped and added, and end")
    add("--sign", metavar="P12", type=Path, help="sign with the key in a PKCS#12 file")
    add(
        "--passphrase-file",
        metavar="F",
        type=Path,
        help="the file whose first line opens the key",
    )


def _templates() -> str:
    return "; ".join(f"{key}: {each.title}" for key, each in TEMPLATES.items())


def _add_verification(parser: argparse.ArgumentParser) -> None:
    """Add what an audit, or a certificate, is checked with."""
    add = parser.add_argument
    parser.set_defaults(refuse=parser.error)
    add("file", metavar="FILE", type=Path, help=f"the audit (.fairdesk) or certificate ({SUFFIX})")
    add(
        "--model",
        metavar="M",
        type=Path,
        help="the model that it speaks of; of an audit it may be left out: what needs it is then "
        "told as not checked",
    )
    _add_opening(parser)
    add(
        "--data",
        metavar="F",
        type=Path,
        help="the table; of an audit it may be left out likewise; of a certificate its people are "
        "then asked about too",
    )
    add(
        "--table",
        metavar="NAME",
        default="",
        help="its sheet or table, where it has several; an audit knows its own",
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--sample",
        metavar="N",
        type=_seed,
        help="of an audit: look at so many pairs only, drawn at random; of a certificate: so many "
        "people are drawn from the boxes of each kind (default: 10000)",
    )
    which.add_argument(
        "--all",
        action="store_true",
        help="prove every box of a certificate once more, however long that takes; of an audit: "
        "look at all pairs too (the default)",
    )
    add(
        "--seconds",
        metavar="S",
        type=float,
        default=60.0,
        help="to prove boxes of a certificate once more may take so long (default: 60), and so may "
        "the solver, of an audit for each certificate; 0 leaves both out",
    )
    add("--seed", metavar="N", type=_seed, default=0, help="of all randomness (default: 0)")
    add(
        "--manifest",
        metavar="F",
        type=Path,
        help="of an audit: a manifest that was given away before, or a report with one in it. It "
        "shows also when the whole log was written anew",
    )
    add(
        "--trust-certificate",
        metavar="CERT",
        type=Path,
        action="append",
        default=[],
        help="of an audit: a certificate (PEM or DER) that you trust; may be repeated. Whoever "
        "signed a report or manifest has to go back to one of them. Without any, a signature only "
        "shows that nothing was changed",
    )
    add(
        "--file",
        metavar="F",
        type=Path,
        action="append",
        default=[],
        dest="exported",
        help="of an audit: a file that was exported from it, or a folder of them; may be repeated. "
        "By default they are looked for beside the audit, and where they were written",
    )
    add(
        "--out",
        metavar="F",
        type=Path,
        help="of an audit: write what came of it to this file (.json, .html, .pdf or .txt)",
    )


def _add_reproduction(parser: argparse.ArgumentParser) -> None:
    """Add what an audit is run again with."""
    add = parser.add_argument
    add("audit", metavar="AUDIT", type=Path, help="the audit (.fairdesk)")
    add("--data", metavar="F", type=Path, required=True, help="the table")
    add("--model", metavar="M", type=Path, help="the model, unless decisions alone were audited")
    _add_opening(parser)
    add(
        "--run",
        metavar="N",
        type=_seed,
        action="append",
        default=[],
        help="only this run, and those that it goes on with; may be repeated",
    )
    add(
        "--out",
        metavar="FOLDER",
        type=Path,
        help=f"keep the new audit, as {AUDIT_FILE}, in this folder; made when it is missing",
    )


def _add_opening(parser: argparse.ArgumentParser) -> None:
    """Add what else it takes to open a model."""
    add = parser.add_argument
    add(
        "--companion",
        metavar="FILE",
        type=Path,
        action="append",
        default=[],
        help="a file beside the model that tells how it is fed: a scaler, encoders, the order of "
        "its inputs; may be repeated",
    )
    add(
        "--trust-model",
        action="store_true",
        help="open a model file, or a file beside it, that is a program: whatever its author put "
        "into it runs",
    )
    add(
        "--make-environment",
        action="store_true",
        help="where the model was saved with other versions: make an environment with them, from "
        "the package registry, and open it there",
    )


def _add_subject(parser: argparse.ArgumentParser) -> None:
    """Add what names the table and the model, and says how they fit together."""
    add = parser.add_argument
    add(
        "--data",
        metavar="F",
        type=Path,
        required=True,
        help="the table: CSV, TSV, Parquet, Excel or SQLite",
    )
    add("--table", metavar="NAME", default="", help="its sheet or table, where it has several")
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument(
        "--model",
        metavar="M",
        type=Path,
        help="Keras, ONNX, scikit-learn, PMML, XGBoost, LightGBM or CatBoost",
    )
    which.add_argument(
        "--predictions",
        metavar="COL",
        default="",
        help="instead of a model: the column with the decisions that it made",
    )
    add("--label", metavar="COL", required=True, help="the column with the decision or the truth")
    add(
        "--favourable",
        metavar="V",
        action="append",
        required=True,
        help="its value that is good for the person; may be repeated; for numbers also “>= 50”",
    )
    add(
        "--model-favourable",
        metavar="CLASS",
        action="append",
        default=[],
        help="the model’s class that means the favourable value; may be repeated; by default the "
        "one of that name, else the one that agrees better with the label",
    )
    add(
        "--map",
        metavar="FILE",
        type=Path,
        help="JSON: how the model’s inputs are made, where that is not as proposed; in the form "
        "that “inspect --json” prints as “mapping”",
    )
    add(
        "--prepare",
        metavar="HOW",
        default="",
        help="how the inputs are scaled where no scaler came with the model: “standardise” or "
        "“range”, fitted on this table (“inspect” lists what may fit); recorded as your decision",
    )
    add(
        "--text-column",
        metavar="COL",
        default="",
        help="the column with the texts that the model reads, where it is not seen as one; in an "
        "audit then terms in these texts are compared by methods that can",
    )
    add("--output", metavar="NAME", default="", help="which output decides, of several")
    add(
        "--threshold",
        metavar="X",
        type=float,
        help="where the decision changes: of a score, when not at 0.5; of an estimated number",
    )
    _add_reading(parser)
    _add_opening(parser)


def _add_reading(parser: argparse.ArgumentParser) -> None:
    """Add what decides how the cells of single columns are read."""
    add = parser.add_argument
    add(
        "--numeric",
        metavar="COL[=EXAMPLE]",
        action="append",
        default=[],
        help="a column that holds numbers, however many of its cells are none; with a number as an "
        "example of how they are written: “income=1.234,5”, “income=1,234.5”; may be repeated",
    )
    add(
        "--categorical",
        metavar="COL",
        action="append",
        default=[],
        help="a column that holds names, though its cells are numbers but for a few; may be "
        "repeated",
    )
    add(
        "--odd-cells",
        metavar="COL=missing|mended",
        action="append",
        default=[],
        help="what is done with the cells of a column of numbers that are none: they are missing, "
        "or those that are numbers in another format (“$45”, “1 200”) are mended and the others "
        "missing; may be repeated. “inspect” lists them",
    )
    add(
        "--mend",
        metavar="COL:CELL=VALUE",
        action="append",
        default=[],
        help="what one such cell is: a number, or “missing”, like “age:90+=90”; may be repeated",
    )
    add(
        "--mend-encoding",
        action="store_true",
        help="read texts that were written in another encoding than the rest of the file as what "
        "they were meant to be",
    )


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--seed", metavar="N", type=_seed, default=0, help="of all randomness (default: 0)"
    )
    parser.add_argument("--out", metavar="FOLDER", type=Path, required=True, help=_OUT_HELP)
    _add_json(parser)


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object with the figures, nothing else"
    )


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Read a command line; a wrong one ends the process with a line that says why."""
    arguments = parser().parse_args(argv)
    if arguments.command == "repair":
        _check_repair(arguments)
    if arguments.command == "report":
        _check_report(arguments)
    if arguments.command != "audit":
        return arguments
    if not arguments.protected and not arguments.text_column:
        arguments.refuse("the following arguments are required: --protected, or --text-column")
    if arguments.text_column and arguments.predictions:
        arguments.refuse("argument --text-column: needs a --model that reads the texts")
    if arguments.terms and not arguments.text_column:
        arguments.refuse("argument --terms: needs a --text-column")
    return arguments


def _check_repair(arguments: argparse.Namespace) -> None:
    """Refuse what one kind of repair is not asked about."""
    if arguments.method == "testsgd" and (arguments.flagged or arguments.pairs_of):
        name = "--flagged" if arguments.flagged else "--pairs-of"
        arguments.refuse(f"argument {name}: only with --method aequitas")
    if arguments.method == "aequitas" and arguments.rule is not None:
        arguments.refuse("argument --rule: only with --method testsgd")


def _check_report(arguments: argparse.Namespace) -> None:
    """Refuse a report without a file, and a passphrase without a key."""
    if arguments.out is None and not arguments.list_parts:
        arguments.refuse("the following arguments are required: --out, or --list-parts")
    if arguments.passphrase_file is not None and arguments.sign is None:
        arguments.refuse("argument --passphrase-file: only with --sign")


def _names(method: str) -> tuple[str, ...]:
    return tuple(option.name for option in options_of(METHODS[method].options))


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"“{text}” is no whole number from 0 on")
    return int(text)


def question_of(arguments: argparse.Namespace) -> Question:
    """Make the question of the arguments of an audit, or of the demonstration.

    Raises
    ------
    SpecError
        When an option, edges of bins, or the file of the domain or of terms is wrong.
    """
    if arguments.command == "demo":
        sample = samples()[0]
        return Question(
            Subject(
                data=sample.data_path,
                model=sample.model_path(sample.models[0]),
                label=sample.label,
                favourable=sample.favourable,
            ),
            protected=sample.protected,
            runs=(RunSpec("maft", sample.options, seed=arguments.seed),),
            title=sample.title,
            person=sample.person,
        )
    asked = arguments.predictions or arguments.model.name
    return Question(
        subject_of(arguments),
        protected=tuple(dict.fromkeys(arguments.protected)),
        runs=_runs(arguments),
        title=f"{asked} on {arguments.data.name}",
        limits=read_limits(arguments.domain) if arguments.domain else Limits(),
    )


def repair_of(arguments: argparse.Namespace) -> RepairQuestion:
    """Make the question of a repair.

    Raises
    ------
    SpecError
        When an option is wrong.
    """
    method = _REPAIRS[arguments.method]
    options = _options((method,), arguments.option)[method]
    if arguments.labels is not None:
        options["labels"] = arguments.labels
    run = RunSpec(
        method,
        options,
        arguments.seed,
        Budget(arguments.seconds),
        pairs_of=tuple(dict.fromkeys(arguments.pairs_of)),
        flagged=arguments.flagged,
    )
    return RepairQuestion(
        audit=arguments.audit,
        run=run,
        out=arguments.out,
        rule=arguments.rule,
        trial=arguments.trial,
        provenance=arguments.provenance,
        model=arguments.model,
        trusted=arguments.trust_model,
    )


def report_of(arguments: argparse.Namespace) -> ReportQuestion:
    """Make the question of a report."""
    return ReportQuestion(
        audit=arguments.audit,
        out=arguments.out,
        form=arguments.format,
        changes=changes_of(arguments),
        details=arguments.details,
        logo=arguments.logo,
        final=arguments.final,
        key=arguments.sign,
        passphrase=arguments.passphrase_file,
    )


def changes_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return what of a report is to be otherwise than the audit has it."""
    told = {
        "template": arguments.template,
        "language": arguments.language,
        "paper": arguments.paper,
        "redaction": arguments.redact,
        "standard": arguments.standard,
        "left_out": tuple(arguments.leave_out),
        "added": tuple(arguments.add),
    }
    return {name: value for name, value in told.items() if value}


def doubt_of(arguments: argparse.Namespace) -> CertificateCheckRequest:
    """Name the certificate, and what it is checked with."""
    for name in ("manifest", "exported", "trust_certificate", "out"):
        if getattr(arguments, name):
            arguments.refuse(f"argument --{_SPELT.get(name, name)}: only with an audit")
    if arguments.model is None:
        arguments.refuse("the following arguments are required of a certificate: --model")
    return CertificateCheckRequest(
        certificate=arguments.file,
        model=arguments.model,
        companions=tuple(arguments.companion),
        data=arguments.data,
        table=arguments.table,
        sample=_POINTS if arguments.sample is None else arguments.sample,
        seconds=arguments.seconds,
        seed=arguments.seed,
        everything=arguments.all,
        trusted=arguments.trust_model,
        make_environment=arguments.make_environment,
    )


def recheck_of(arguments: argparse.Namespace) -> VerifyRequest:
    """Name the audit, and what it is checked with."""
    if arguments.table:
        arguments.refuse("argument --table: an audit knows which table it read")
    return VerifyRequest(
        audit=arguments.file,
        data=arguments.data,
        model=arguments.model,
        companions=tuple(arguments.companion),
        sample=arguments.sample,
        seconds=arguments.seconds,
        seed=arguments.seed,
        everything=arguments.all,
        trusted=arguments.trust_model,
        make_environment=arguments.make_environment,
    )


def again_of(arguments: argparse.Namespace) -> ReproduceRequest:
    """Name the audit that is run again, and with what."""
    return ReproduceRequest(
        audit=arguments.audit,
        data=arguments.data,
        model=arguments.model,
        companions=tuple(arguments.companion),
        runs=tuple(dict.fromkeys(arguments.run)),
        out=arguments.out,
        trusted=arguments.trust_model,
        make_environment=arguments.make_environment,
    )


def subject_of(arguments: argparse.Namespace) -> Subject:
    """Name the table and the model."""
    return Subject(
        data=arguments.data,
        label=arguments.label,
        favourable=" or ".join(arguments.favourable),
        model=arguments.model,
        predictions=arguments.predictions,
        model_favourable=" or ".join(arguments.model_favourable) or None,
        companions=tuple(arguments.companion),
        map=arguments.map,
        table=arguments.table,
        output=arguments.output,
        threshold=arguments.threshold,
        trusted=arguments.trust_model,
        make_environment=arguments.make_environment,
        text=arguments.text_column,
        columns=_readings(arguments),
        encoding_mended=arguments.mend_encoding,
        prepare=arguments.prepare,
    )


def _readings(arguments: argparse.Namespace) -> dict[str, ColumnReading]:
    """Gather what is decided of single columns."""
    readings: dict[str, ColumnReading] = {}

    def decide(name: str, **decided: Any) -> None:  # noqa: ANN401 - members of the struct
        before = readings.get(name, ColumnReading())
        readings[name] = msgspec.structs.replace(before, **decided)

    for text in arguments.numeric:
        name, _, example = text.partition("=")
        form = format_of(example) if example else None
        if example and form is None:
            raise SpecError(
                f"“{example}” does not show how numbers are written.",
                remedy="Give a number with grouped digits and a fraction, like 1,234.5 or 1.234,5.",
            )
        decide(name, numeric=True, format=form)
    for name in arguments.categorical:
        if name in readings:
            raise SpecError(
                f"The column “{name}” cannot be numeric and categorical.",
                remedy="Leave out one of the two.",
            )
        decide(name, numeric=False)
    for text in arguments.odd_cells:
        name, _, odd = text.rpartition("=")
        if odd not in ("missing", "mended") or not name:
            raise SpecError(
                f"“{text}” does not say what is done with odd cells.",
                remedy="Write a column and what is done, like age=missing or age=mended.",
            )
        decide(name, odd=odd)
    for text in arguments.mend:
        name, cell, value = _mending(text)
        before = readings.get(name, ColumnReading())
        decide(name, cells={**before.cells, cell: value})
    return readings


def _mending(text: str) -> tuple[str, str, float | None]:
    """Read what one cell is: its column, its text, its number or nothing for missing."""
    where, _, value = text.rpartition("=")
    name, sign, cell = where.partition(":")
    numbers = as_numbers([value], ".")
    if not sign or not name or not cell.strip() or (numbers is None and value != "missing"):
        raise SpecError(
            f"“{text}” does not say what a cell is.",
            remedy="Write a column, a cell and its number, like age:90+=90, or age:O=missing.",
        )
    return name, cell.strip(), None if numbers is None else float(numbers[0])


def _runs(arguments: argparse.Namespace) -> tuple[RunSpec, ...]:
    methods = tuple(dict.fromkeys(arguments.method or _usual(arguments)))
    options = _options(methods, arguments.option)
    budget = Budget(arguments.seconds, arguments.rows)
    edges = _edges(methods, arguments.bins)
    terms = read_terms(arguments.terms) if arguments.terms else {}
    runs = []
    for method in methods:
        # one that keeps time itself is told how much there is
        if arguments.seconds and "seconds" in _names(method):
            options[method].setdefault("seconds", arguments.seconds)
        run = RunSpec(method, options[method], arguments.seed, budget, arguments.near)
        if METHODS[method].divides:
            run = msgspec.structs.replace(run, edges=edges)
        if METHODS[method].reads and arguments.text_column:
            run = msgspec.structs.replace(run, text=arguments.text_column, terms=terms)
        runs.append(run)
    return tuple(runs)


def _usual(arguments: argparse.Namespace) -> list[str]:
    """Name the methods of an audit that names none."""
    if arguments.predictions:
        return []
    return ["testsgd"] if arguments.text_column else ["maft"]


def _edges(methods: Sequence[str], texts: Sequence[str]) -> dict[str, tuple[float, ...]]:
    """Read the edges of bins by the columns that they divide.

    Raises
    ------
    SpecError
        When they are no numbers, or no method asked for divides anything.
    """
    edges = {}
    for text in texts:
        name, _, numbers = text.rpartition("=")
        try:
            edges[name.strip()] = tuple(float(number) for number in numbers.split(","))
        except ValueError:
            raise SpecError(
                f"The edges of bins “{text}” cannot be read.",
                remedy="Write them like age=25,40,60.",
            ) from None
    if edges and not any(METHODS[method].divides for method in methods):
        raise SpecError(
            "No method that is asked for divides numbers into bins.",
            remedy="Leave out --bins, or ask for testsgd or groups.",
        )
    return edges


def _options(methods: Sequence[str], texts: Sequence[str]) -> dict[str, dict[str, OptionValue]]:
    """Return each method its options: those said of it, and those that it knows by that name.

    Raises
    ------
    SpecError
        When one has no value, a wrong one, or is no method's.
    """
    if texts and not methods:
        raise SpecError(
            f"The option “{texts[0]}” is of no method: none is asked for.",
            remedy="Name one with --method.",
        )
    raw: dict[str, dict[str, str]] = {method: {} for method in methods}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals:
            raise SpecError(f"The option “{text}” has no value.", remedy="Write it as name=value.")
        named, dot, rest = name.rpartition(".")
        if dot and named not in methods:
            raise SpecError(
                f"The option “{name}” is of the method “{named}”, which is not asked for.",
                remedy=f"The methods asked for are: {', '.join(methods)}.",
            )
        knowing = [named] if dot else [each for each in methods if name in _names(each)]
        # the first method tells which options there are
        for method in knowing or methods[:1]:
            raw[method][rest] = value
    chosen = {}
    for method in methods:
        options = parse_options(method, raw[method])
        chosen[method] = {name: getattr(options, name) for name in raw[method]}
    return chosen
