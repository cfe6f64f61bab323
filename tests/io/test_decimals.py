"""Points and commas in text that may stand between thousands."""

import pytest

from partwise.io import DataError, read


@pytest.fixture
def notes(tmp_path):
    def write(text, **options):
        (tmp_path / "a.csv").write_text(text, encoding="utf-8")
        return " ".join(read(tmp_path / "a.csv", yes_no="answers", **options).notes)

    return write


SALES = "r;umsatz;b\nx;950;20\ny;1.250;7\nz;12.400;9\nw;800;1\n"


def test_points_that_may_stand_between_thousands_are_told(notes):
    said = notes(SALES)
    assert "points of column 'umsatz' were read as decimal points: '1.250' in row 3 is 1.25." in said
    assert "numbers such as 950 beside them have none: if '1.250' is 1250, add --decimal ," in said
    assert "decimal points" not in notes(SALES, decimal=",")
    assert "decimal points" not in notes(SALES, drop="umsatz")
    # Below a title, without the corner, and without names.
    assert "column 'umsatz'" in notes("Zahlen 2024;;\n" + SALES)
    assert "column 'umsatz'" in notes(SALES.replace("r;", "", 1))
    assert "column 'column 2'" in notes(SALES.split("\n", 1)[1])


@pytest.mark.parametrize(
    "column",
    [
        "0.123 1.250 2.100",  # three decimals everywhere
        "1.250 12.400 3.500",
        "0.123 950 1.250",
        "1.25 950 12.4",
        "99.125 100 45.250",  # percent
        "1.250 7 12.400",
        "1.250 950 1800",  # thousands without a point
        "950.000 1.250 3.100",
    ],
)
def test_measurements_are_not_doubted(notes, column):
    rows = "\n".join(f"x{i};{cell};{i}" for i, cell in enumerate(column.split()))
    assert "decimal points" not in notes(f"r;a;b\n{rows}\n")


def test_other_decimals_in_the_table_decide(notes):
    rows = "\n".join(f"x{i};{cell};{i + 0.5}" for i, cell in enumerate(("950", "1.250", "12.400")))
    assert "decimal points" not in notes(f"r;a;b\n{rows}\n")


def test_numbers_that_have_both_marks_or_several_points_are_no_text(notes):
    with pytest.raises(DataError, match="If its commas are decimal points, add --decimal ,"):
        notes("r;a;b\nx;1.234,50;1\ny;2.100,00;2\n")
    with pytest.raises(DataError, match="If its points stand between thousands, add --decimal ,"):
        notes("r;a;b\nx;1.234.567;1\ny;2.100.000;2\n")
    assert notes("r;a;b\nx;1.234.567;1\ny;2.100.000;2\n", decimal=",").endswith(
        "'1.234.567' in row 2 is 1234567."
    )


REVENUE = 'name,a,rev\nA,1,500\nB,2,750\nC,3,"1,000"\nD,4,"1,250"\nE,5,"1,500"\n'


def test_commas_that_may_stand_between_thousands_are_told(notes):
    with pytest.raises(
        DataError, match=r"commas are decimal points, add --decimal , .*commas stand between thous"
    ):
        notes(REVENUE)
    for text in (REVENUE, 'name,a,rev\nA,1,500\nC,3,"1,000"\nD,4,"2,000"\n'):
        said = notes(text, decimal=",")
        assert "commas of column 'rev' were read as decimal points: '1,000' in row " in said
        assert "numbers such as 500 beside them have none: if '1,000' is 1000, take the commas out" in said
    # Several commas, or a comma before a point, can stand nowhere else.
    for cell, plain in (("1,250,000", "1250000"), ("1,250.50", "1250.50")):
        with pytest.raises(DataError, match=f"so that '{cell}' is {plain}, take them out") as error:
            notes(f'name,a,rev\nA,1,500\nB,2,750\nC,3,"{cell}"\nD,4,"{cell}"\n')
        assert "--decimal" not in str(error.value)


@pytest.mark.parametrize(
    "column",
    [
        "0,123 1,250 950",
        "1,25 950 12,400",
        "99,125 100 45,250",
        "1,250 7 12,400",
        "1,250 950 1800",
        "1,250 950 1.800",
    ],
)
def test_measurements_with_decimal_commas_are_not_doubted(notes, column):
    rows = "\n".join(f"x{i};{cell};{i}" for i, cell in enumerate(column.split()))
    assert "decimal points" not in notes(f"r;a;b\n{rows}\n", decimal=",")
