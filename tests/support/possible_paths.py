"""An oracle for `estimate`: what of a path is possible, from the equations of docs/reference/encoding.md alone; and
executions.

It shares no code with ccmatic. Executions are simulated step by step in exact numbers. Z3 decides what is possible, in
the sender's own bytes: then all that the sender has seen are numbers, the link rate C is an unknown, and each law is
linear. (`estimate` has C = 1 and an unknown size of a byte instead.)
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from random import Random

import z3

ZERO = Fraction(0)


@dataclass(frozen=True)
class Run:
    """An execution at the end of each step: cumulative bytes, and delays in whole steps (docs/reference/encoding.md,
    section 1).

    buffer: as the sender knows it, in C·R_m; None: infinite; "any": finite, of any size. C: the true link rate."""

    model: str
    C: Fraction
    D: int
    MSS: Fraction
    buffer: Fraction | str | None
    beta: Fraction | None
    columns: dict

    def steps(self, begin, end):
        """The same from step `begin` up to step `end`, left out; bytes are counted from what the first had served."""
        served = dict.fromkeys("ASK", self.columns["S"][begin])
        columns = {name: [v - served.get(name, 0) for v in column[begin:end]] for name, column in self.columns.items()}
        return Run(self.model, self.C, self.D, self.MSS, self.buffer, self.beta, columns)


def random_run(seed, model, steps):
    """Simulate an execution of a network that was used before, by a sender with random rates."""
    random = Random(f"{model} {seed}")
    return next(run for _ in count() if (run := _simulated(random, model, steps)))


def _simulated(random, model, steps):
    """A Run; None if a token was kept so long that the network cannot serve in time."""
    C, D = random.choice([Fraction(1), Fraction(3), Fraction(7, 2)]), random.choice([1, 1, 2])
    beta, MSS = random.choice([None, Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4)]), C / random.choice([6, 10])
    queue = random.choice([ZERO, C / 2, 4 * C])
    queue = queue if beta is None else min(queue, beta * C)
    A, S, L, K, Q, F = [queue], [ZERO], [ZERO], [ZERO], [0], [0]
    begin, load = random.randint(2, 9), random.choice([Fraction(1, 2), Fraction(1), Fraction(2), Fraction(2)])
    for t in range(1, begin + steps):
        A.append(A[-1] + max(MSS, C * load * random.choice([ZERO, Fraction(1, 2), Fraction(1), Fraction(2)])))
        least = min(K[-1] + C, max(K[-1], A[-1] - L[-1]))
        K.append(random.choice([least, least, K[-1] + C]) if model == "ccac" else min(K[-1] + C, A[-1] - L[-1]))
        L.append(L[-1] if beta is None else max(L[-1], A[-1] - K[-1] - beta * C))
        low, high = max(S[-1], K[t - D] if t >= D else ZERO), min(K[-1], A[-1] - L[-1])
        if low > high:
            return None
        S.append(random.choice([low, low, high, (low + high) / 2]))
        kept = [sent - lost for sent, lost in zip(A, L, strict=True)]
        served = S[-1] > S[-2]
        Q.append(sum(S[-1] <= kept[then] for then in range(t)) if served else Q[-1])
        F.append(sum(S[-2] < kept[then] for then in range(t)) if served else F[-1])
    origin, known = S[begin], "any" if random.random() < 0.5 else beta
    columns = {name: [v - origin for v in column[begin:]] for name, column in (("A", A), ("S", S), ("K", K))}
    columns |= {"L": L[begin:], "Ld": L[begin - 1 : -1]}
    columns["r"] = [A[t] - A[t - 1] for t in range(begin, begin + steps)]
    columns |= {name: [min(steps, d) for d in column[begin:]] for name, column in (("Q", Q), ("F", F))}
    return Run(model, C, D, MSS, None if beta is None else known, beta, columns)


class Paths:
    """Every path whose execution looks to its sender like a Run. C, queue: Z3 terms, in the sender's bytes."""

    def __init__(self, run):
        self.run, self.solver = run, z3.Solver()
        A, S, Ld, r = (run.columns[name] for name in ("A", "S", "Ld", "r"))
        self.T, D, finite = len(A), run.D, run.buffer is not None
        self.C, C = (z3.Real("C"),) * 2
        self.K = K = [z3.Real(f"K{t}") for t in range(self.T)]
        L = [*map(_number, Ld[1:]), z3.Real("L") if finite else z3.RealVal(0)]
        X = [_number(A[t]) - L[t] for t in range(self.T)]
        self.queue = X[-1] - K[-1]
        add = self.solver.add
        add(5 * _number(run.MSS) < C, _number(run.MSS) > 0, z3.BoolVal(r[0] > 0 and A[0] >= 0 and S[0] == 0))
        for t in range(self.T):
            add(_number(S[t]) <= X[t], _number(S[t]) <= K[t])
            add(_number(S[t]) >= (K[t - D] if t >= D else K[0] - C * (D - t)))
            if t:
                add(z3.BoolVal(S[t] >= S[t - 1] and r[t] >= run.MSS and A[t] == A[t - 1] + r[t]))
                if run.model == "ccac":
                    add(K[t] >= K[t - 1], K[t] - K[t - 1] <= C)
                    add(z3.Or(K[t] - K[t - 1] >= C, X[t] <= K[t]))
                else:
                    add(K[t] <= K[t - 1] + C, K[t] <= X[t], z3.Or(K[t] >= K[t - 1] + C, K[t] >= X[t]))
            elif run.model == "cbr_delay":
                add(K[0] <= X[0])
        if finite:
            self._loses(X, L)
        for name in ("Q", "F") if run.model == "cbr_delay" else ("Q",):
            self._delays(name, X)

    def _loses(self, X, L):
        run, K, C = self.run, self.K, self.C
        A, Ld = run.columns["A"], run.columns["Ld"]
        self.room = room = z3.Real("B") if run.buffer == "any" else C * _number(run.buffer)
        add = self.solver.add
        add(room > _number(run.MSS), z3.BoolVal(Ld[0] >= 0), L[0] >= _number(Ld[0]), X[0] <= K[0] + room)
        add(z3.Or(L[0] <= _number(Ld[0]), X[0] == K[0] + room))
        for t in range(1, self.T):
            add(L[t] >= L[t - 1], X[t] >= X[t - 1])
            offered, full = _number(A[t]) - L[t - 1], K[t] + room
            add(z3.If(offered > full, X[t] == full, L[t] == L[t - 1]))

    def _delays(self, name, X):
        run, measured, S = self.run, self.run.columns[name], self.run.columns["S"]
        add = self.solver.add
        for t in range(self.T):
            if run.buffer is not None:
                # As docs/reference/encoding.md: k ≤ β/C + D, and a step more for the first byte.
                add(self.C * _number(measured[t]) <= self.room + self.C * (run.D + (name == "F")))
            if t and S[t] == S[t - 1]:
                add(z3.BoolVal(measured[t] == measured[t - 1]))
            for k in range(1, t + 1) if t and S[t] > S[t - 1] else ():
                sent = X[t - k]
                waited = _number(S[t]) <= sent if name == "Q" else _number(S[t - 1]) < sent
                add(waited if measured[t] >= k else z3.Not(waited))

    def possible(self, *conditions):
        """Whether some path satisfies the conditions."""
        self.solver.push()
        self.solver.add(*conditions)
        answer = self.solver.check()
        self.solver.pop()
        assert answer != z3.unknown
        return answer == z3.sat

    def waited(self):
        """The whole steps that the last byte served may have waited at the bottleneck, a set; None: before the run."""
        S = self.run.columns["S"]
        served = next((t for t in range(self.T - 1, 0, -1) if S[t] > S[t - 1]), None)
        sent = None if served is None else served - self.run.columns["Q"][served]
        if sent is None or sent < 0:
            return None
        through = [self.K[then] >= _number(S[served]) for then in range(sent, served + 1)]
        first = [z3.And(through[n], *map(z3.Not, through[:n])) for n in range(len(through))]
        return {n for n in range(len(through)) if self.possible(first[n])}


def _number(value):
    return z3.RealVal(str(value))
