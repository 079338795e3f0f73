"""The laws of docs/reference/encoding.md once more, as formulas, and which of the engine's laws differ from them."""

from ccmatic.logic.solving.solver import SAT, UNSAT, Checker
from ccmatic.logic.terms import constant, equal, every, iff, implies, no, some
from ccmatic.questions import query as queries


def encoding(x, kind):
    """docs/reference/encoding.md, sections 1 to 5, written from there: (law, formula) pairs."""
    A, S, L, Ld, K, r, D, T = x.A, x.S, x.L, x.Ld, x.K, x.r, x.D, x.horizon
    X = [a - lost for a, lost in zip(A, L, strict=True)]
    yield "packet", every(x.alpha > 0, x.alpha * 5 < 1)
    yield "first", every(equal(S[0], 0), A[0] >= 0, r[0] > 0, Ld[0] >= 0, Ld[0] <= L[0])
    for t in range(1, T):
        yield f"sender {t}", every(equal(A[t], A[t - 1] + r[t]), r[t] >= x.alpha)
        yield f"grows {t}", every(S[t] >= S[t - 1], L[t] >= L[t - 1], X[t] >= X[t - 1])
        yield f"detected {t}", equal(Ld[t], L[t - 1])
    for t in range(T):
        yield f"sent {t}", S[t] <= X[t]
        if kind != "ideal":
            yield f"token {t}", every(S[t] <= K[t], S[t] >= (K[t - D] if t >= D else K[0] - (D - t)))
    for t in range(1, T):
        if kind == "ideal":
            yield f"ideal {t}", equals_least(S[t], S[t - 1] + 1, A[t] - L[t - 1])
        else:
            yield f"token rate {t}", every(K[t] >= K[t - 1], K[t] <= K[t - 1] + 1)
            yield f"waste {t}", implies(K[t] < K[t - 1] + 1, X[t] <= K[t])
        if kind == "cbr_delay":
            yield f"cbr {t}", every(equals_least(K[t], K[t - 1] + 1, X[t]), K[0] <= X[0])
    if x.beta is not None:
        yield from losses_and_buffer(x, X)
    if x.buffer.kind == "at least":
        yield "least buffer", x.beta >= x.buffer.size
    yield from delay(x, "Q", lambda t, d: every(X[t - d - 1] < S[t], S[t] <= X[t - d]))
    if kind == "cbr_delay":
        yield from delay(x, "F", lambda t, d: every(X[t - d - 1] <= S[t - 1], S[t - 1] < X[t - d]))


def first_beliefs(x):
    """Yield the constraints on the initial beliefs (docs/reference/encoding.md, section 6)."""
    alpha, C_L, C_U = x.alpha, x.beliefs["C_L"][0], x.beliefs["C_U"][0]
    yield "C_L", every(alpha <= C_L, C_L <= 1)
    yield "C_U", every(C_L <= C_U, C_U >= 1)
    if "q_U" in x.beliefs:
        C_Llambda, q_U = x.beliefs["C_Llambda"][0], x.beliefs["q_U"][0]
        fits = constant(True) if x.beta is None else x.beta + 1 >= C_Llambda * (x.D + 2)
        yield "C_Llambda", every(alpha <= C_Llambda, C_Llambda <= 1, fits)
        yield "q_U", every(q_U >= 0, q_U >= x.A[0] - x.L[0] - x.K[0])


def losses_and_buffer(x, X):
    full = [k + x.beta for k in x.K]
    yield "buffer", every(x.beta > x.alpha, X[0] <= full[0])
    yield "lost just before", implies(x.L[0] > x.Ld[0], equal(X[0], full[0]))
    for t in range(1, x.horizon):
        over = x.A[t] - x.L[t - 1] > full[t]
        yield f"loss {t}", every(implies(over, equal(X[t], full[t])), some(over, equal(x.L[t], x.L[t - 1])))


def delay(x, name, seen):
    """A measured delay, which grows by at most one a step and fits the buffer."""
    T, column = x.horizon, getattr(x, name)
    for t in range(T):
        for d in range(T if x.beta is not None else 0):
            yield f"{name} fits {t}", implies(column.exactly(t, d), x.beta + x.D >= d)
        if x.beta is not None:
            yield f"{name} known {t}", implies(x.beta + x.D < T, no(column.at_least(t, T)))
    for t in range(1, T):
        served = x.S[t] > x.S[t - 1]
        for d in range(T):
            was = column.exactly(t - 1, d)
            yield f"{name} stays {t}", implies(no(served), iff(column.exactly(t, d), was))
            grown = some([column.exactly(t, k) for k in range(d + 2)])
            yield f"{name} grows {t}", implies(was, grown)
        for d in range(t):
            yield f"{name} seen {t}", implies(served, iff(column.exactly(t, d), seen(t, d)))


def equals_least(target, one, other):
    return every(target <= one, target <= other, some(target >= one, target >= other))


NETWORKS = [
    (kind, buffer, jitter)
    for kind, jitters in (("ideal", (0,)), ("cbr_delay", (1, 2)), ("ccac", (1, 2)))
    for jitter in jitters
    for buffer in ("infinite", "any", "1/2", ">=2")
]


def laws_that_differ(kind, buffer, jitter, horizon=5):
    """The names of the laws, of either side, that the other side does not imply."""
    query = queries.make(kind, buffer, horizon, jitter=jitter)
    x = query.execution()
    starts = [law for law in query.model.belief_laws(x) if law.name.endswith(("_starts", "_holds_at_first"))]
    ours = [(str(law), law.formula) for law in [*query.laws(x), *starts]]
    theirs = [*encoding(x, kind), *first_beliefs(x)]
    yield from not_implied(ours, theirs)
    in_order = [law for law in ours if "is_one_delay" in law[0]]
    yield from not_implied([*theirs, *in_order], ours)


def not_implied(laws, others):
    """The names of the others that the laws do not imply."""
    checker = Checker()
    for _, formula in laws:
        checker.add(formula)
    assert checker.check() == SAT
    for name, formula in others:
        checker.push()
        checker.add(no(formula))
        if checker.check() != UNSAT:
            yield name
        checker.pop()
