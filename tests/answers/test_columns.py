"""Tables as plain text."""

from ccmatic.base import aligned


def test_columns_are_aligned():
    rows = [("flow", "Mbit/s", "lost"), ("bpf:[red]", "5.56", 7), ("all", "24.00", 1234)]
    assert aligned(rows, left=1) == [
        "flow       Mbit/s  lost",
        "bpf:[red]    5.56     7",
        "all         24.00  1234",
    ]
    assert aligned(rows)[0] == "     flow  Mbit/s  lost"
    assert aligned([("name", ""), ("x", "")], left=2) == ["name", "x"]
