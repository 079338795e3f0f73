"""The expectations that a proof by a shape implies (docs/reference/expectations.md)."""

from fractions import Fraction

from ccmatic.contracts import Buffer

#: For each quantity of an expectation, the constant of shapes that bounds the quantity, and the unit of that constant.
DECIDED = {"utilisation": ("utilisation", ""), "queue": ("inflight", "bdp"), "loss": ("loss", "packets")}


def networks(query):
    """Return the networks whose proofs cover a query: one with the query's buffer, and one with any buffer."""
    buffer = query.buffer
    covering = [str(buffer)] if buffer == Buffer("any") else [str(buffer), "any"]
    return [(query.network.model_name, each, query.jitter) for each in covering]


def undecided(expectation):
    """Return the reason, in words, why no proof by a shape can imply an expectation; None if some proof could."""
    comparison = expectation.comparison
    if expectation.by is not None:
        return "as the constants of a shape are about all steps, not about the first step of a condition"
    constant, unit = DECIDED[comparison.subject]
    if expectation.conditions:
        return "as the constants of a shape are about all steps, not about those of a condition"
    if unit != comparison.unit:
        return f"as the constant '{constant}' of a shape is in {unit or 'parts of the link'}"
    if (comparison.relation in ("<", "<=")) == (constant == "utilisation"):
        return f"as the constant '{constant}' of a shape bounds it from the other side"
    return None


def implies(expectation, proof, horizon, constants):
    """Return whether a proof's constants imply that a converged sender meets an expectation.

    Args:
        expectation: An Expectation in the network's units, with a bound from above or below.
        proof: The Proof.
        horizon: The number of points T of a window, which spans T - 1 steps.
        constants: The value of each constant, by name.
    """
    comparison = expectation.comparison
    name, _ = DECIDED.get(comparison.subject, (None, None))
    value = constants.get(name)
    if value is None or undecided(expectation):
        return False
    if name == "inflight":  # The constant is in units of C(R_m + D), but the expectation is in units of C·R_m.
        return _within(value * (1 + proof.jitter), comparison)
    if name == "loss":  # The constant bounds the loss in each step.
        return _within(value * (expectation.interval or 1), comparison)
    window = horizon - proof.common
    of_window = value * (window - proof.jitter)
    if expectation.interval is None:
        return _within(of_window / window, comparison)
    # The windows of a proof follow each other without gaps, and an interval may begin anywhere in a window. Only
    # windows that lie entirely within the interval count.
    whole = max(0, (expectation.interval - (window - 1)) // window)
    return _within(Fraction(whole * of_window, expectation.interval), comparison)


def _within(value, comparison):
    """Return whether a value satisfies a comparison."""
    match comparison.relation:
        case "<=":
            return value <= comparison.amount
        case "<":
            return value < comparison.amount
        case ">=":
            return value >= comparison.amount
        case ">":
            return value > comparison.amount
    raise ValueError(comparison.relation)
