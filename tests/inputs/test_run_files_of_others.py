"""Run files that others wrote: any value in any field is read or refused with a message, never a fault of ccmatic."""

import sqlite3

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ccmatic.base.errors import InputError
from ccmatic.contracts.template import value_of
from ccmatic.synthesis import cover
from ccmatic.synthesis import run_file as store
from support import small_run

HUGE = (
    "[" * 10**4,
    "9" * 10**4,
    "1e400000000",
    '{"a": ' * 500 + "1" + "}" * 500,
    "\0",
    "[256]",
    "[[1]]",
    "[1e9]",
    "null",
)
VALUES = st.none() | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.text(max_size=20) | st.binary(max_size=20)
FIELDS = ("kind", "candidate", "source", "way", "trace", "seconds", "number")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """An honest run of a small template."""
    with pytest.MonkeyPatch.context() as patch:
        small_run.use(patch)
        path = tmp_path_factory.mktemp("run") / "run.db"
        small_run.make(path)
        yield path


fuzzed = settings(
    max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def forged(run, statement, *values):
    """A copy of the run in which a statement of SQL was carried out; None if SQLite refuses it."""
    file = run.with_name("forged.db")
    file.write_bytes(run.read_bytes())
    with sqlite3.connect(file) as database:
        try:
            database.execute(statement, values)
        except sqlite3.Error:
            return None
    return file


def is_read_or_refused(file):
    try:
        cover.check_cover(file)
    except InputError as error:
        assert error.message


@pytest.mark.slow
@given(st.sampled_from(FIELDS), VALUES | st.sampled_from(HUGE), st.integers(1, 3))
@fuzzed
def test_any_event_is_read_or_refused(run, field, value, number):
    if file := forged(run, f"UPDATE events SET {field} = ? WHERE number = ?", value, number):
        is_read_or_refused(file)


@given(st.sampled_from(("format", "version", "name", "query", "finished")), VALUES | st.sampled_from(HUGE))
@fuzzed
def test_anything_a_run_says_of_itself_is_read_or_refused(run, key, value):
    if file := forged(run, "INSERT OR REPLACE INTO about VALUES (?, ?)", key, value):
        is_read_or_refused(file)


def test_a_run_that_claims_to_have_ended_late_lacks_events_and_is_read_at_once(run):
    file = forged(run, "INSERT OR REPLACE INTO about VALUES ('finished', ?)", str(10**18))
    assert any("is missing" in fault for fault in cover.check_cover(file).faults)


@pytest.mark.parametrize(
    "term", ["__import__('os')", "C_L + 1", "C_L ** 2", "f(C_L)", "C_L if C_L else 1", "", "C_L, R_m", "0.5 * C_L"]
)
def test_a_term_of_a_template_is_a_product_and_runs_nothing(term):
    with pytest.raises(InputError, match="is not a term"):
        value_of(term, {"C_L": 1, "R_m": 1})


def test_an_event_of_the_wrong_type_is_named(run):
    file = forged(run, "UPDATE events SET trace = ? WHERE number = 2", b"\x80")
    with pytest.raises(InputError, match="event 2, trace: found b'.x80'; expected text or null"):
        store.read_run(file)
