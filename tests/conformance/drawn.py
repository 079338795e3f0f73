"""Controllers drawn at random, as sources: each form of term, condition and statement, in units that fit."""

from random import Random

#: What a controller without state reads, by unit; R_m and D are 1 where worlds are compared.
RATES = {
    "rate": ("C_L", "C_U", "C_Llambda", "MSS / R_m", "q_U / R_m", "C_L * R_m / (R_m + D)", "max(0, C_U)", "0 * C_L"),
    "time": ("qdel_L", "qdel_U", "R_m", "D", "(qdel_U - 0)"),
    "bytes": ("q_U", "MSS", "C_L * R_m", "D * C_U"),
}
NAMES = "C_L, C_U, C_Llambda, qdel_L, qdel_U, q_U, MSS, R_m, D"

#: The same of a controller with state.
UPDATES = {
    "bytes": ("window", "most", "acked", "lost", "sent", "acked[step]", "sent[2 * step]", "MSS", "pace * R_m"),
    "rate": ("pace", "ack_rate", "MSS / R_m", "(acked - acked[step]) / step", "window / R_m"),
    "time": ("since", "R_m", "step", "time - R_m", "0 * step", "3 * D"),
}
DELAYS = ("delay", "delay[step]", "max(delay, delay[step])", "min_over(delay, 3)")
TRUTHS = ("timeout", "measured", "measured[step]", "quiet")
STATE = {"window": "bytes", "most": "bytes", "pace": "rate", "since": "time"}

HEAD = """window: bytes = above(0)
most: bytes = 3 * MSS
pace: rate = anything()
since: time = 0
quiet: condition = False


def update(window, most, pace, since, quiet, acked, lost, sent, ack_rate, delay, measured, timeout, time,
           MSS, R_m, D, step):
"""
TAIL = "\n\ndef send(window, pace):\n    return window, pace\n"

NUMBERS = ("2", "3 / 2", "0.1", "1 / 3", "-1", "7 / 5", "max(1, 2.5)", "1e-2")
ORDERS = ("<", "<=", ">", ">=", "==", "!=")


class Grammar:
    """Draws terms by unit, and conditions. leaves: terms by unit; delays, truths: what only conditions may read."""

    def __init__(self, rng, leaves, delays=(), truths=()):
        self.rng, self.leaves, self.delays, self.truths, self.count = rng, leaves, delays, truths, 0

    def term(self, unit, depth):
        """A term of a unit."""
        if depth == 0 or self.rng.random() < 0.2:
            return self.rng.choice(self.leaves[unit])
        first, second = self.term(unit, depth - 1), self.term(unit, depth - 1)
        self.count += 1
        name = f"each_{self.count}"
        return self.rng.choice((
            f"({first} + {second})",
            f"({first} - {second})",
            f"({self.number()}) * {first}",
            f"{first} / ({self.number()})",
            f"-{first}",
            f"max({first}, {second})",
            f"min({first}, {second}, {self.term(unit, 0)})",
            f"({first} if {self.condition(depth - 1, delays=False)} else {second})",
            f"max({first} / {name} for {name} in range(1, 4))",
            f"sum({name} / 2 for {name} in [{first}, {second}])",
            f"affine([[1, -2]], [{first}, {second}], [0])[0]",
            f"[{first}, {second}][{self.rng.randrange(2)}]",
        ))  # fmt: skip

    def number(self):
        """A number other than 0."""
        return self.rng.choice(NUMBERS)

    def condition(self, depth, delays=True):
        """A condition; in a term it reads no delay."""
        if depth > 0 and self.rng.random() < 0.4:
            first, second = self.condition(depth - 1, delays), self.condition(depth - 1, delays)
            both = f"({first} and {second})", f"({first} or {second})"
            return self.rng.choice((f"not ({first})", *both, f"all([{first}, {second}])", f"any([{first}, {second}])"))
        kinds = ["terms", "terms", "chain", *["delay"] * bool(self.delays and delays), *["truth"] * bool(self.truths)]
        order, other = self.rng.choice(ORDERS), self.rng.choice(ORDERS)
        match self.rng.choice(kinds):
            case "delay":
                return f"{self.rng.choice(self.delays)} {order} {self.rng.choice(self.leaves['time'])}"
            case "truth":
                return self.rng.choice(self.truths)
            case "chain":
                return f"0 {order} {self.term('time', 1)} {other} {self.term('time', 1)}"
        unit = self.rng.choice([*self.leaves])
        return f"{self.term(unit, depth)} {order} {self.term(unit, depth)}"


def rate(seed):
    """The source of a controller without state."""
    grammar = Grammar(Random(f"rate {seed}"), RATES)
    return f"def rate({NAMES}):\n" + "\n".join(_rates(grammar, 2, "    "))


def _rates(grammar, depth, indent):
    if depth == 0 or grammar.rng.random() < 0.3:
        low = grammar.term("rate", 2)
        if grammar.rng.random() < 0.3:
            return [f"{indent}once = {low}", f"{indent}return max(once, {grammar.term('rate', 1)} - once)"]
        if grammar.rng.random() < 0.3:
            return [f"{indent}return between(min({low}, C_L), max({low}, C_L))"]
        return [f"{indent}return {low}"]
    then, other = (_rates(grammar, depth - 1, indent + "    ") for _ in range(2))
    lines = [f"{indent}if {grammar.condition(2)}:", *then]
    if grammar.rng.random() < 0.5:
        return [*lines, f"{indent}else:", *other]
    return [*lines, *(line[4:] for line in other)]


def update(seed):
    """The source of a controller with state."""
    grammar = Grammar(Random(f"update {seed}"), UPDATES, DELAYS, TRUTHS)
    lines = [f"    {name} = {grammar.term(unit, 1)}" for name, unit in STATE.items()]
    return HEAD + "\n".join([*lines, "    quiet = not quiet", *_updates(grammar, 2, "    ")]) + TAIL


def _updates(grammar, depth, indent):
    """Statements; what the network chooses stands last, as nothing may read it in the same step."""
    rng = grammar.rng
    lines = [f"{indent}{name} = {grammar.term(STATE[name], 2)}" for name in rng.sample([*STATE], rng.randint(1, 2))]
    if rng.random() < 0.4:
        lines.append(f"{indent}quiet = {grammar.condition(1)}")
    if depth:
        then, other = (_updates(grammar, depth - 1, indent + "    ") for _ in range(2))
        return [*lines, f"{indent}if {grammar.condition(2)}:", *then, f"{indent}else:", *other]
    name = rng.choice([*STATE])
    first, second = (grammar.term(STATE[name], 1) for _ in range(2))
    choices = f"any_of({first}, {second})", f"between(min({first}, {name}), max({second}, {name}))"
    return [*lines, f"{indent}{name} = {rng.choice(choices)}"] if rng.random() < 0.4 else lines
