"""Random models from the vocabulary of laws: laws agree on unknowns and on numbers."""

from fractions import Fraction

from ccmatic.models.ccac import MODEL
from hypothesis import given, settings
from hypothesis import strategies as st
from pysmt.shortcuts import Bool, Real, simplify, substitute

from ccmatic.contracts.execution import execution, observed
from ccmatic.contracts.query import Buffer
from ccmatic.logic.terms import choice, equal, every, formula, iff, implies, is_max, is_min, largest, no, some
from ccmatic.networks.traces.trace import Trace

HORIZON = 3
BUFFER = Buffer.parse("any")
COLUMNS = ("A", "S", "L", "Ld", "K", "r")

numbers = st.builds(Fraction, st.integers(-3, 3), st.integers(1, 3))
steps = st.integers(0, HORIZON - 1)

#: Functions of an execution: terms, and conditions on them.
leaves = st.one_of(
    numbers.map(lambda value: lambda x: value),
    st.builds(lambda name, t: lambda x: getattr(x, name)[t], st.sampled_from(COLUMNS), steps),
    st.builds(lambda t: lambda x: x.queue(t), steps),
    st.sampled_from([lambda x: x.C, lambda x: x.alpha, lambda x: x.beta, lambda x: x.D]),
)


def joined_terms(inner):
    return st.one_of(
        st.builds(lambda a, b: lambda x: a(x) + b(x), inner, inner),
        st.builds(lambda a, b: lambda x: a(x) - b(x), inner, inner),
        st.builds(lambda a, c: lambda x: c * a(x), inner, numbers),
        st.builds(lambda a, c: lambda x: a(x) / c, inner, numbers.filter(bool)),
        st.builds(lambda a, b: lambda x: largest(a(x), b(x)), inner, inner),
        st.builds(lambda a, b, c, d: lambda x: choice(a(x) < b(x), c(x), d(x)), inner, inner, inner, inner),
    )


terms = st.recursive(leaves, joined_terms, max_leaves=5)
comparisons = st.one_of(
    st.builds(lambda a, b: lambda x: a(x) <= b(x), terms, terms),
    st.builds(lambda a, b: lambda x: a(x) > b(x), terms, terms),
    st.builds(lambda a, b: lambda x: equal(a(x), b(x)), terms, terms),
    st.builds(lambda a, b, c: lambda x: is_max(a(x), (True, b(x)), (b(x) < c(x), c(x))), terms, terms, terms),
    st.builds(lambda a, b, c: lambda x: is_min(a(x), (True, b(x)), (b(x) > c(x), c(x))), terms, terms, terms),
    st.builds(lambda t, k: lambda x: x.Q.at_least(t, k), steps, st.integers(0, HORIZON + 1)),
    st.builds(lambda t, k: lambda x: x.Q.exactly(t, k), steps, st.integers(0, HORIZON)),
)


def joined(inner):
    return st.one_of(
        st.builds(lambda a: lambda x: no(a(x)), inner),
        st.builds(lambda a, b, c: lambda x: every(a(x), [b(x), c(x)]), inner, inner, inner),
        st.builds(lambda a, b, c: lambda x: some(a(x), [b(x), c(x)]), inner, inner, inner),
        st.builds(lambda a, b: lambda x: implies(a(x), b(x)), inner, inner),
        st.builds(lambda a, b: lambda x: iff(a(x), b(x)), inner, inner),
    )


laws = st.recursive(comparisons, joined, max_leaves=6)


@st.composite
def traces(draw):
    """Numbers of any kind: laws need not be true of them."""
    columns = {name: tuple(draw(numbers) for _ in range(HORIZON)) for name in COLUMNS}
    columns["Ld"] = (columns["Ld"][0], *columns["L"][:-1])
    columns["Q"] = tuple(Fraction(draw(st.integers(0, HORIZON))) for _ in range(HORIZON))
    constants = {name: draw(numbers) for name in ("MSS", "beta")}
    return Trace(HORIZON, constants, columns, {}, None)


def values(x, trace):
    """Each unknown of the execution with its value in the trace."""
    point = {x.alpha.node(): Real(trace.constants["MSS"]), x.beta.node(): Real(trace.constants["beta"])}
    for name in COLUMNS:
        point |= {term.node(): Real(value) for term, value in zip(getattr(x, name), trace.columns[name], strict=True)}
    return point | {formula(late): Bool(truth) for late, truth in x.Q.pairs(trace.columns["Q"])}


@settings(max_examples=150, deadline=None, derandomize=True)
@given(laws, traces())
def test_a_law_of_unknowns_is_that_of_numbers(law, trace):
    unknown = execution(MODEL, HORIZON, BUFFER, 1)
    known = observed(MODEL, BUFFER, 1, trace, ())
    said = simplify(substitute(formula(law(unknown)), values(unknown, trace)))
    assert said.is_bool_constant()
    assert law(known) is said.constant_value()
