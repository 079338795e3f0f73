"""Generators: the array and the SAT solver leave the same candidates, and those that a trace strikes out are
those that would have chosen its rates."""

from fractions import Fraction
from itertools import product
from random import Random

import pytest

from ccmatic import controllers as cca
from ccmatic.base.errors import InputError
from ccmatic.contracts.template import Branch, linear_forms
from ccmatic.networks.traces.trace import Trace
from ccmatic.questions import query
from ccmatic.synthesis import cover
from ccmatic.synthesis.cover import Strike
from ccmatic.synthesis.generators import ArrayGenerator, SatGenerator
from support.sampling import each_nth

RATE = linear_forms({"C_L": (0, 1, 2), "MSS / R_m": (0, 1)})
CONDITION = linear_forms({"C_L": (0, -2, 1), "C_U": (1, -1)}) + linear_forms({"qdel_L": (1, -1), "R_m": (0, 1)})
TWO = Branch(CONDITION, RATE, RATE)
NESTED = Branch(CONDITION[:3], Branch(CONDITION[3:6], RATE[:2], RATE[1:3]), Branch(CONDITION[2:4], RATE[:2], RATE[:1]))


def made_up(rng, template, horizon=5):
    """A trace whose rates a random candidate chose, mostly."""

    def draw(choices):
        return tuple(Fraction(rng.choice(choices), 4) for _ in range(horizon))

    columns = {"C_L": draw([2, 4]), "C_U": draw([4, 6, 8]), "qdel_L": draw([0, 4, 8])}
    constants = {"C": Fraction(1), "R_m": Fraction(1), "D": Fraction(1), "MSS": Fraction(1, 8)}
    forms = tuple(rng.choice(hole) for hole in template.holes())
    source = template.source(forms, "A candidate.")
    trace = Trace(horizon, constants, {**columns, "r": (Fraction(1),) * horizon}, {}, source)
    return trace.with_columns(r=(Fraction(1), *chosen(template, forms, trace)))


def chosen(template, forms, trace):
    """The rates that the candidate's own Python chooses."""
    controller = cca.parse(template.source(forms, "A candidate."))
    floor = trace.constants["MSS"]
    rows = list(trace.rows())[:-1]
    return tuple(max(floor, controller.rate({**trace.constants, **row})) for row in rows)


def candidates(generator):
    """All that is left."""
    left = set()
    while (forms := generator.propose()) is not None:
        assert forms not in left
        left.add(forms)
        generator.strike(forms)
    return left


@pytest.mark.parametrize("template", [TWO, NESTED], ids=["two", "nested"])
def test_strikes(template):
    rng = Random(1)
    array, sat = ArrayGenerator(template), SatGenerator(template)
    expected = set(product(*template.holes()))
    assert array.left == template.size == len(expected)
    for _ in range(4):
        trace = made_up(rng, template)
        array.strike_like(trace)
        sat.strike_like(trace)
        struck = {forms for forms in expected if chosen(template, forms, trace) == trace.columns["r"][1:]}
        expected -= struck
    assert 1 < len(expected) < template.size
    solution = next(iter(sorted(expected, key=str)))
    array.strike_class(solution)
    sat.strike_class(solution)
    kind = [form.beliefs for form in solution]
    expected -= {forms for forms in expected if [form.beliefs for form in forms] == kind}
    assert array.left == len(expected)
    assert candidates(array) == candidates(sat) == expected


def test_the_cover_reads_traces_as_the_generator_does():
    rng = Random(2)
    for _ in range(5):
        trace = made_up(rng, NESTED)
        truths = ArrayGenerator(NESTED).space.choices(trace)
        words = (tuple(sum(int(bit) << t for t, bit in enumerate(row)) for row in hole) for hole in truths)
        assert Strike.of_trace(NESTED, trace).words == tuple(words)


LATE = Branch(linear_forms({"C_L": (0, 1), "C_U": (1, -1)}), RATE, RATE[1:])


def decided_at_the_end(horizon):
    """A trace on which beliefs stay where they are but for the last decision: the bounds cross."""
    columns = {"C_L": (Fraction(1),) * (horizon - 2) + (Fraction(3),) * 2, "C_U": (Fraction(2),) * horizon}
    constants = {"C": Fraction(1), "R_m": Fraction(1), "D": Fraction(1), "MSS": Fraction(1, 8)}
    forms = LATE.forms((3, 4, 2))
    trace = Trace(horizon, constants, columns, {}, LATE.source(forms, "A candidate."))
    return trace.with_columns(r=(Fraction(1), *chosen(LATE, forms, trace)))


@pytest.mark.parametrize("horizon", each_nth(2, [63, 64, 65, 66, 67, 128, 130]))
def test_every_step_of_a_long_trace_counts(horizon):
    """A word of a machine has 64 bits: steps beyond them decide as those before."""
    trace = decided_at_the_end(horizon)
    choices = {forms: chosen(LATE, forms, trace) for forms in product(*LATE.holes())}
    struck = {forms for forms, rates in choices.items() if rates == trace.columns["r"][1:]}
    until_late = {forms for forms, rates in choices.items() if rates[:-1] == trace.columns["r"][1:-1]}
    assert set() < struck < until_late < set(choices)
    array, sat = ArrayGenerator(LATE), SatGenerator(LATE)
    array.strike_like(trace)
    sat.strike_like(trace)
    assert candidates(array) == candidates(sat) == set(choices) - struck
    strike = Strike.of_trace(LATE, trace)
    assert {forms for forms in choices if strike.strikes(LATE, places(LATE, forms))} == struck
    for forms in until_late:
        alone = Branch(*((form,) for form in forms))
        strikes = [Strike.of_trace(alone, trace)]
        for uncovered in (cover._enumerate(alone, strikes), cover.refute(alone, strikes)[0]):
            assert (uncovered is None) == (forms in struck)


def places(template, forms):
    return tuple(hole.index(form) for hole, form in zip(template.holes(), forms, strict=True))


@pytest.mark.parametrize("indices", [[0], [0, 0, 0, 0], [0, 0, 99], [0, -1, 0], [0, True, 0], [0, "0", 0], [0.0, 0, 0]])
def test_indices_that_are_no_candidate(indices):
    with pytest.raises(InputError, match="expected an index for each hole, below 10, 6, 6"):
        TWO.candidate(indices)


def test_source_is_a_controller():
    for forms in product(*(hole[:2] for hole in NESTED.holes())):
        cca.parse(NESTED.source(forms, "A candidate."))


@pytest.mark.parametrize("domains", [{"C_L": ()}, {}], ids=["empty", "none"])
def test_empty_domains(domains):
    with pytest.raises(InputError, match="expected one at least for each term"):
        linear_forms(domains)


@pytest.mark.parametrize(
    ("domains", "message"),
    [({"C_L": (1,), "qdel_L": (1,)}, "qdel_L"), ({"C_Llambda": (1,)}, "C_Llambda"), ({"q_U +": (1,)}, "not a term")],
    ids=["units", "belief of another model", "syntax"],
)
def test_terms_that_do_not_fit(domains, message, tmp_path):
    file = tmp_path / "template.py"
    file.write_text(
        "from ccmatic.contracts import Branch, linear_forms\n"
        f"TEMPLATE = Branch(linear_forms({domains!r}), linear_forms({{'C_L': (1,)}}), linear_forms({{'C_L': (2,)}}))\n"
    )
    with pytest.raises(InputError, match=message):
        query.make("ccac", "any", 5, template=str(file))
