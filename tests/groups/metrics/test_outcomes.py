"""How groups of real people fare."""

import numpy as np
import pytest

from fairdesk.data.domain.attributes import Role, attribute_of
from fairdesk.data.domain.domain import Domain
from fairdesk.data.formats.reading import read_table
from fairdesk.data.profiling.outcomes import favourable_rows
from fairdesk.groups.metrics.group_table import outcomes
from fairdesk.groups.statistics import wilson_ends


@pytest.mark.parametrize(("k", "n"), [(0, 1), (1, 1), (0, 7), (7, 7), (3, 10), (611, 4_000)])
def test_the_interval_is_wilsons(k, n):
    from scipy.stats import binomtest

    wanted = binomtest(k, n).proportion_ci(0.95, method="wilson")
    assert wilson_ends(k, n) == pytest.approx((wanted.low, wanted.high), abs=1e-12)


def counted(tmp_path, rows, protected=("sex", "town"), good="yes"):
    path = tmp_path / "people.csv"
    path.write_text("\n".join(["sex,town,size,ok", *rows]), encoding="utf-8")
    table = read_table(path)
    domain = Domain(
        tuple(
            attribute_of(
                table.column(name),
                Role.PROTECTED if name in protected else Role.VARIES,
                unknown=table.column(name).missing > 0,
            )
            for name in ("sex", "town", "size")
        )
    )
    return outcomes(domain, table, *favourable_rows(table, "ok", good))


ROWS = [
    *(f"f,Ä,{n},{'yes' if n < 4 else 'no'}" for n in range(10)),
    *(f"m,Ä,{n},{'yes' if n < 8 else 'no'}" for n in range(10)),
    *(f"m,Ö,{n},no" for n in range(5)),
    *(f",Ö,{n},yes" for n in range(3)),
    "f,Ä,3,",
]


def test_rates_and_ratios_are_those_of_the_rows(tmp_path):
    by_sex, by_town, together = counted(tmp_path, ROWS)
    female, male, unknown = by_sex.lines
    assert (female.values, female.n_samples, female.favourable) == (("f",), 10, 4)
    assert (male.n_samples, male.favourable) == (15, 8)
    assert female.impact_ratio == pytest.approx(0.4 / (8 / 15))
    assert male.impact_ratio == 1
    # whose group is not known is counted, and neither compared nor the yardstick
    assert (unknown.n_samples, unknown.favourable, unknown.known) == (3, 3, False)
    assert unknown.impact_ratio is None
    assert by_sex.without == 1
    assert [group.n_samples for group in by_town.lines] == [20, 8]
    assert {group.values for group in together.lines} == {
        ("f", "Ä"),
        ("m", "Ä"),
        ("m", "Ö"),
        ("Unknown", "Ö"),
    }
    for found in (by_sex, by_town, together):
        assert sum(group.n_samples for group in found.lines) + found.without == len(ROWS)
        for group in found.lines:
            assert group.low <= group.rate <= group.high


def test_nobody_favoured_makes_no_ratio(tmp_path):
    rows = [f"{'fm'[n % 2]},Ä,{n},{'yes' if n == 40 else 'no'}" for n in range(41)]
    (by_sex,) = counted(tmp_path, [*rows[:40], "f,Ä,40,yes"], ("sex",))
    assert by_sex.lines[1].impact_ratio == 0
    assert by_sex.lines[0].impact_ratio == 1
    good = np.zeros(41, bool)
    assert wilson_ends(int(good.sum()), 41)[0] == 0
