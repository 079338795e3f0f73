"""Networks and queries, made in Python as people write them."""

from fractions import Fraction

import pytest

from ccmatic import query as queries
from ccmatic.base import InputError
from ccmatic.query import Network, Query


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
