"""What a proof by a shape says about an expectation (docs/reference/expectations.md)."""

from fractions import Fraction

from ccmatic.contracts import Buffer

#: The expectations that a shape's constants decide, by their quantity: the constant, and the unit of the amount.
DECIDED = {"utilisation": ("utilisation", ""), "queue": ("inflight", "bdp"), "loss": ("loss", "packets")}


def networks(query):
    """Return the networks whose proofs cover a query's, as `attempts` takes them: with its buffer, or with any."""
    buffer = query.buffer
    covering = [str(buffer)] if buffer == Buffer("any") else [str(buffer), "any"]
    return [(query.network.model_name, each, query.jitter) for each in covering]


def implies(expectation, proof, horizon, constants):
    """Return whether the constants of a proof imply an expectation, once the sender has converged.

    Args:
        expectation: An Expectation in the network's units, at most or at least an amount.
        proof: The Proof.
        horizon: The steps of a window, T.
        constants: The value of each constant, by name.
    """
    comparison = expectation.comparison
    name, unit = DECIDED.get(comparison.subject, (None, None))
    value, falls = constants.get(name), comparison.relation in ("<", "<=")
    if value is None or unit != comparison.unit or expectation.conditions or falls == (name == "utilisation"):
        return False
    if name == "inflight":  # in C(R_m + D)
        return _within(value * (1 + proof.jitter), comparison)
    if name == "loss":  # in each step
        return _within(value * (expectation.interval or 1), comparison)
    window = horizon - proof.common
    of_window = value * (window - proof.jitter)
    if expectation.interval is None:
        return _within(of_window / window, comparison)
    # The windows of a proof follow each other, and an interval may begin anywhere in one.
    whole = max(0, (expectation.interval - (window - 1)) // window)
    return _within(Fraction(whole * of_window, expectation.interval), comparison)


def _within(value, comparison):
    """Whether a value is on the right side of an amount."""
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
