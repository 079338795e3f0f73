"""Networks and queries, made in Python as people write them."""

from fractions import Fraction

import pytest

import ccmatic as cm
from ccmatic.base import InputError
from ccmatic.questions import query as queries
from ccmatic.questions.query import Network, Query
from support import ROOT, cli


def test_a_query_made_in_python_is_the_one_that_a_file_describes():
    made = Query(Network("ccac", buffer="infinite", horizon=5), template="two_branches", name="g1_t5")
    read = queries.load("g1_t5")
    assert made.record() == read.record()
    assert made.search() == read.search()


def test_numbers_are_exact_and_the_network_may_be_changed():
    query = Query(Network("ccac", buffer="1/2", horizon="11"), utilisation="1/3")
    assert query.property.utilisation == Fraction(1, 3)
    assert (query.horizon, query.jitter, str(query.buffer)) == (11, 1, "1/2")
    changed = query.on(horizon=7, delay="executions")
    assert (changed.horizon, changed.network.delay, changed.property) == (7, "executions", query.property)


@pytest.mark.parametrize("make, message", [
    (lambda: Network("ccax", "any", 11), "did you mean 'ccac'"),
    (lambda: Network("ccac", "some", 11), "the buffer is 'some'"),
    (lambda: Network("ccac", "any", 1), "the horizon is 1; expected a whole number of steps"),
    (lambda: Network("ccac", "any", 11, jitter="a"), "the jitter is a"),
    (lambda: Network("ideal", "any", 11, jitter=1), "the ideal link has none"),
    (lambda: Network("ccac", "any", 11, delay="none"), "delay is 'none'"),
    (lambda: Query(Network("ccac", "any", 11), utilization="1/2"), "did you mean 'utilisation'"),
    (lambda: Query(Network("ccac", "any", 11), utilisation=0.5), "utilisation is 0.5"),
    (lambda: Query(Network("ccac", "any", 11), template="two_branch"), "did you mean 'two_branches'"),
])  # fmt: skip
def test_what_will_not_do_is_said(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_a_record_cannot_name_what_only_a_person_may():
    record = queries.load("g1_t5").record()
    record["property"]["allow_code"] = True
    with pytest.raises(InputError, match="no parameter 'allow_code'"):
        queries.from_record(record)


def test_a_query_may_be_named_as_in_commands():
    verdicts = [cm.verify("always_half", query) for query in ("g1_t5", ROOT / "examples/queries/g1_t5.toml")]
    assert [verdict.report.query.record() for verdict in verdicts] == [queries.load("g1_t5").record()] * 2
    assert cm.synthesise("g1_t5").query.name == "g1_t5"


@pytest.mark.parametrize("call, message", [
    (lambda: cm.verify("always_half", "g33"), "there is no 'g33' in examples/queries"),
    (lambda: cm.verify("always_half", 3), "3 is no query; expected a Query, the name of one"),
    (lambda: cm.widen("always_half", None), "None is no query"),
    (lambda: cm.worst("aimd", "ccac2021"), "ccac2021 is no network; expected a Network"),
    (lambda: cm.SolverOptions("z3"), r"solvers is 'z3'; expected a tuple of some of .*, such as \('z3',\)"),
    (lambda: cm.SolverOptions(("z4",)), "solvers is .'z4',.; expected"),
    (lambda: cm.SolverOptions(()), "solvers is ..; expected"),
    (lambda: cm.SolverOptions(timeout="60"), "the timeout is '60'; expected seconds, above 0 and at most"),
    (lambda: cm.SolverOptions(timeout=float("nan")), "the timeout is nan"),
    (lambda: cm.SolverOptions(timeout=float("inf")), "the timeout is inf"),
    (lambda: cm.SolverOptions(timeout=0), "the timeout is 0"),
    (lambda: cm.SolverOptions(seed="0"), "the seed is '0'; expected a whole number from 0 to 4294967295"),
    (lambda: cm.SolverOptions(seed=-1), "the seed is -1"),
])  # fmt: skip
def test_what_is_no_query_no_network_and_no_option_is_said(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_options_of_solvers_out_of_their_range_are_one_message():
    for option in (["--timeout", "inf"], ["--seed", str(2**64)]):
        code, _, said = cli.run("verify", "always_half", "--query", "g1_t5", *option)
        assert code == 2 and "; expected" in said and len(said.splitlines()) == 1
