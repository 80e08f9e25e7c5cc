"""The report's section on what is proven: every number in it is true, and nothing is mixed."""

import io
import re

import msgspec
import pytest
from pypdf import PdfReader

from fairdesk.audit.spec import RunSpec
from fairdesk.events import (
    Condition,
    Estimated,
    PairShare,
    Proven,
    Region,
    Share,
)
from fairdesk.report import charts, figures
from fairdesk.report.document import make_pdf
from tests.report.building import people_store, run_into

TOTAL = 12_345_678_901_234_567_890
ALIKE, UNLIKE = 11_102_469_035_880_246_904, 851_851_844_185_185_185
DOMAIN = Proven(
    of="domain",
    attributes=("sex", "job"),
    certified=0.8993,
    falsified=0.069,
    undecided=0.0317,
    total=str(TOTAL),
    certified_people=str(ALIKE),
    falsified_people=str(UNLIKE),
    boxes=1_234_567,
    seconds=61.0,
    margin=1.3e-5,
    estimated=Estimated(10_000, 4_100, 0.40, 0.42, 0.95, 0.41),
    notes=("Of the constraints one could not be decided on boxes.",),
)
PEOPLE = msgspec.structs.replace(
    DOMAIN,
    of="population",
    certified=0.951,
    falsified=0.021,
    undecided=0.028,
    total="",
    certified_people="",
    falsified_people="",
    estimated=None,
    notes=(),
)
FIGURES = (
    DOMAIN,
    PEOPLE,
    Share(
        whom="data",
        attributes=("sex", "job"),
        people=190,
        hits=7,
        exhaustive=True,
        confidence=0.95,
        estimate=7 / 190,
        low=7 / 190,
        high=7 / 190,
        anytime_low=7 / 190,
        anytime_high=7 / 190,
    ),
    msgspec.structs.replace(
        DOMAIN,
        attributes=("sex",),
        certified=0.95,
        falsified=0.03,
        undecided=0.02,
        total="",
        estimated=None,
        notes=(),
    ),
    PairShare(("sex", "job"), (0.0, 0.0), (1.0, 0.0), 0.031, 0.95),
    PairShare(("sex", "job"), (0.0, 1.0), (1.0, 3.0), 0.06, 0.94, exact=True),
    Region(
        "unlike",
        (Condition("age", low=25.0), Condition("debts", high=4.0)),
        0.0412,
        str(TOTAL // 24),
        0.013,
    ),
    Region("alike", (Condition("income", low=40.5, high=80.0),), 0.61, str(TOTAL // 2), 0.4),
)


def made(folder, *runs, search=False):
    with people_store(folder, ("sex", "job")) as store:
        if search:
            run_into(store, options={"global_num": 20, "local_num": 10})
        for told, state in runs:
            run = store.begin_run(RunSpec("certify"))
            store.measure(run, told)
            store.end_run(run, state)
        return make_pdf(store)


def text_of(pdf):
    pages = [page.extract_text() for page in PdfReader(io.BytesIO(pdf)).pages]
    return re.sub(r"\s+", " ", " ".join(pages).replace("\u00a0", " "))


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    folder = tmp_path_factory.mktemp("proof")
    return text_of(made(folder, (FIGURES, "done"), (FIGURES[:1], "stopped"), search=True))


@pytest.mark.parametrize(
    "held",
    [
        "8 Certification",
        "9 Examples",
        "At least 89.93 % of all possible applicants are treated alike, whatever their sex and job",
        "at least 6.90 % are not: proven. 3.17 % is undecided.",
        "Of the remaining 3.17 %, an estimated 41.0 % (40.0 to 42.0 %, 95 %) are treated unlike",
        "Everybody 12,345,678,901,234,567,890",
        "Certified 11,102,469,035,880,246,904 (89.93 %), at least",
        "Falsified 851,851,844,185,185,185 (6.90 %), at least",
        "Undecided 391,358,021,169,135,801 (3.17 %)",
        "41.0 % (40.0 to 42.0 %, 95 %) are treated unlike; statistical, not certified",
        "95.10 % certified, 2.10 % falsified, 2.80 % undecided",
        "all 8 combinations of values of sex and job that may be, 28 pairs in all",
        "Boxes looked at 1,234,567",
        "Of the constraints one could not be decided on boxes.",
        "3.68 % of the applicants in the data (7 of 190) get another decision",
        "sex 95.00 % 3.00 % 2.00 %",
        "sex = female and job = cook sex = male and job = pilot 6.00 % 94.00 % exactly",
        "“age” ≥ 25 and “debts” ≤ 4",
        "514,403,287,551,440,328 4.12 % 1.30 %",
        "40.5 ≤ “income” ≤ 80",
        "by at most 0.000013, and every bound leaves room for that",
        "fairdesk verify",
        "Stopped by the auditor",
        "statistical, not certified, and never part of the proven shares",
        "Certified share",
        "section 8.1",
    ],
)
def test_the_section_holds(text, held):
    assert held in text


def test_pairs_that_carry_most_come_first(text):
    assert text.index("6.00 % 94.00 %") < text.index("3.10 % 95.00 %")


def test_without_a_proof_there_is_no_such_section(tmp_path):
    text = text_of(made(tmp_path, search=True))
    assert "Certification" not in text
    assert "8 Examples" in text


def test_a_proof_alone_is_no_failed_search(tmp_path):
    text = text_of(made(tmp_path, (FIGURES, "done")))
    assert "Nothing was found within what was tried" not in text
    assert "No search was made; section 8 says what is proven." in text


def test_what_cannot_be_looked_into_is_estimated_and_says_so(tmp_path):
    share = msgspec.structs.replace(
        FIGURES[2], whom="domain", exhaustive=False, low=0.01, high=0.06, people=190
    )
    share = msgspec.structs.replace(share, opaque="it reads text")
    text = text_of(made(tmp_path, ((share,), "done")))
    said = "This is statistical, not certified: the model cannot be looked into (it reads text)."
    assert said in text
    assert "every box with its verdict" not in text


def test_bars_are_as_long_as_their_shares():
    bar = charts.ProofBar("All", 0.5, 0.25, 0.1)
    picture = charts.proof_chart([bar])
    widths = [float(each) for each in re.findall(r'width="([\d.]+)" height="16', picture.svg)]
    assert widths == pytest.approx([0.5 * charts.WIDTH, 0.25 * charts.WIDTH, 0.25 * charts.WIDTH])
    hatches = re.findall(r"M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)", picture.svg)
    inside = [[float(each) for each in hatch] for hatch in hatches][:-6]
    start, end = 0.75 * charts.WIDTH, 0.85 * charts.WIDTH
    assert len(inside) > 8
    assert all(start <= x <= end for hatch in inside for x in (hatch[0], hatch[2]))
    assert "50.00 % certified, 25.00 % falsified" in picture.alt.replace("\u00a0", " ")
    plain = charts.proof_chart([bar._replace(estimated=None)])
    assert "estimated unlike" not in plain.alt
    # what is proven is never rounded up
    assert "99.99" in charts.proof_chart([charts.ProofBar("All", 0.999999, 0.0)]).alt


def test_a_share_by_itself_is_rounded_down():
    assert figures.least_percent(0.04129).replace("\u00a0", " ") == "4.12 %"
    assert figures.least_percent(0.00001239).replace("\u00a0", " ") == "0.0012 %"
