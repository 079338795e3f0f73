"""Senders: by a window, with state and beliefs, and by a rate, with beliefs alone.

Written from docs/reference/stateful.md (the equations, observations, beliefs) and docs/reference/encoding.md (section
6). A sender knows all of its own past, and each delay that it measured, however long that was.
"""

import random
from fractions import Fraction

from .program import Draw, Unknown, Wait, compiled, whole

ZERO, INTERFACE = Fraction(0), Fraction(100)

#: What a sender by a window may read with `[back]`.
OBSERVED = ("acked", "ack_rate", "sent", "lost", "timeout", "delay", "measured", "time", "served", "admitted")
OBSERVED += ("before_trace",)

#: The most steps of which a belief is a sample; over how many steps others are told.
SAMPLE, OTHERS = 4, 8


class Impossible(Exception):
    """The controller has no such execution: its declaration permits no initial value, or it has no meaning."""


class WindowSender:
    """A flow's sender. R: R_m in steps. packet: MSS. own: whether the delays are those of its own bytes alone."""

    def __init__(self, source, path, flow, R, packet, rng, own):
        self.program, self.path, self.flow = compiled(source, OBSERVED), path, flow
        self.R, self.packet, self.own, self.draw, self.rng = R, packet, own, Draw(rng), rng
        self.seeds = lambda n: rng.getrandbits(32)  # of what the network chooses at a step
        self._seeds, self._shows, self._assumed = [0], None, True
        self.constants = {"MSS": packet, "R_m": Fraction(R), "D": Fraction(path.D), "step": Fraction(1)}
        self.constants["line_rate"] = INTERFACE
        state = self.program.first(self.draw, self.constants)
        if state is None:
            raise Impossible
        self.believes = [name for name in ("C_L", "C_U", "others_L") if self._needs(name)]
        state |= {name: self._first_belief(name) for name in self.believes}
        self.lost, self.found, self.timeouts, self.unfound = [ZERO], [ZERO], [False], []
        self.state, self.window, self.rate, self.assumed = [state], [], [], [True]
        self._send(state, 0)

    def _needs(self, name):
        return name in self.program.reads or (name == "C_L" and "others_L" in self.program.reads)

    def _first_belief(self, name):
        if name == "others_L":
            return ZERO
        if name == "C_L":  # true, and where it can be at least a packet an R_m
            return max(min(self.packet / self.R, Fraction(1)), Fraction(self.rng.randint(1, 6), 6))
        return max(Fraction(self.rng.choice((1, 1, 2, 3, 100))), self.packet / self.R)

    def decide(self):
        """Decide at the next step. Returns how many bytes to send."""
        n = len(self.state)
        self._find(n)
        self._seeds.append(self.seeds(n))
        self.state.append(self._updated(n))
        self._send(self.state[-1], n)
        before = self.path.A[self.flow][n - 1]
        paced, allowed = self.rate[n], self._acked(n) + self.lost[n] + self.window[n] - before
        return max(ZERO, min(allowed, paced) if self.given[0] else paced)

    def sent(self, lost):
        """Receive the losses of the previous step from the network, as (position, bytes) each.

        If the controller reads the bytes admitted in that step, it decides again with this knowledge.
        """
        n = len(self.state) - 1
        self.unfound += lost
        if "admitted" in self.program.reads:
            again = self._updated(n)
            self.state[n] = again
            window, rate = self.window.pop(), self.rate.pop()
            self._send(again, n)
            if (window, rate) != (self.window[n], self.rate[n]):
                raise Impossible  # it would have sent something else, had it known what it sends
        self._settle(n)
        self.assumed.append(self._assumed)

    def _updated(self, n, begin=0):
        draw = Draw(random.Random(self._seeds[n]))
        values = {**self.constants, **self.state[n - 1]}
        values |= {name: self._observed(name, n) for name in self.program.reads & set(OBSERVED)}
        beliefs = self._beliefs(n, begin)
        values |= beliefs
        state = {}
        if n < self.R:  # nothing is acknowledged yet
            state = {name: self.state[n - 1][name] for name in self.program.state}
        elif self.program.state:
            state = self.program.run("update", values, draw, lambda name, back: self._observed(name, n - int(back)))
            state = {
                name: self.state[n - 1][name] if isinstance(value, Unknown) else whole(value)
                for name, value in state.items()
            }
        if any(value is None for value in state.values()):
            raise Impossible
        self._assumed = draw.assumed
        return state | {name: beliefs[name] for name in self.believes}

    def _send(self, state, n):
        """The window and the rate of a step, as columns: what limits nothing is more than is ever sent."""
        known = {**self.constants, **state}
        sends = self.program.run("send", known, self.draw)
        if isinstance(sends, tuple):
            window, rate = sends
        elif _is_rate(self.program):
            window, rate = None, sends
        else:
            window, rate = sends, None
        self.given = (window is not None, rate is not None)
        self.window.append(INTERFACE if window is None else window)
        self.rate.append(INTERFACE if rate is None else rate)

    def _settle(self, n):
        """What does not limit has a column too: more than anything that is sent."""
        if not self.given[0]:
            before, rate = self.path.A[self.flow][n - 1], self.rate[n]
            self.window[n] = max(Fraction(1), before + rate - self._acked(n) - self.lost[n])

    # What it observes; `_shows`: as of decides_alike, while that is asked

    def _acked(self, n):
        return self.path.S[self.flow][n - self.R] if n >= self.R else ZERO

    def _find(self, n):
        """Detect losses: three later packets are acknowledged, or no bytes are in flight."""
        acked, then = self._acked(n), n - self.R
        told = [entry for entry in self.unfound if entry[0] + 3 * self.packet <= acked]
        self.unfound = [entry for entry in self.unfound if entry[0] + 3 * self.packet > acked]
        self.found.append(self.found[-1] + sum((amount for _, amount in told), ZERO))
        A, L, S = (getattr(self.path, name)[self.flow] for name in "ALS")
        late = then >= 0 and S[then] == A[then] - L[then] and A[n - 1] == A[then]
        late = late and self.lost[-1] < L[then] and self.found[-1] < L[then]
        self.timeouts.append(bool(late))
        self.lost.append(L[then] if late else max(self.lost[-1], self.found[-1]))

    def _observed(self, name, n):
        match name:
            case "acked":
                return self._acked(n)
            case "ack_rate":
                return (self._acked(n) - self._acked(n - self.R)) / self.R
            case "sent":
                return self.path.A[self.flow][n - 1] if n >= 1 else ZERO
            case "lost":
                return self.lost[n] if n >= 0 else ZERO
            case "timeout":
                return self.timeouts[n] if n >= 0 else False
            case "time":
                return Fraction(n)
            case "served":
                return self.path.S[self.flow][n - 1] if n >= 1 else ZERO
            case "admitted":
                return self.path.admitted(self.flow, min(n, self.path.now))
            case "before_trace":
                return False
            case "measured":
                return self._measured(n)
            case "delay":
                return self.delay(n)
        raise KeyError(name)

    def _measured(self, n):
        then = n - self.R
        served = self.path.S[self.flow] if self.own else self.path.served
        return then > 0 and served[then] > served[then - 1]

    def delay(self, n):
        """Return the delay of the last acknowledged byte, as far as the sender knows it at step n."""
        then = n - self.R
        waited = self.path.wait(self.flow, then) if then > 0 else None
        if waited is not None and self._shows is not None:
            begin, shows = self._shows
            shown = shows(waited[0], self.path.last_service(self.flow, then) - begin)
            waited = waited if shown == waited[0] else shown and (shown, shown)
        return Unknown() if waited is None else Wait(*waited)

    # What it believes (docs/reference/stateful.md, Beliefs; docs/reference/flows.md, Beliefs beside other flows)

    def decides_alike(self, n, begin, shows):
        """Return whether step n would have the same outcome with only the knowledge of a window.

        Args:
            shows: A function of a delay and of the steps since its measurement. It returns the delay as the window
                shows it, or None.
        """
        self._shows = begin, shows
        try:
            return (self._updated(n, begin), self._assumed) == (self.state[n], self.assumed[n])
        finally:
            self._shows = None

    def _beliefs(self, n, begin=0):
        beliefs, D, steps = {}, self.path.D, n - begin
        reads = self.program.reads
        if reads & {"qdel_L", "qdel_U", "wait_L"}:
            delay = self.delay(n)
            unknown = isinstance(delay, Unknown)
            beliefs["qdel_L"] = delay if unknown else _at_least_0(delay - D)
            beliefs["qdel_U"] = delay if unknown else delay + 1
            beliefs["wait_L"] = delay if unknown else _at_least_0(delay - D - 1)
        if "C_L" in self.believes:
            most = SAMPLE if begin == 0 else min(SAMPLE, steps - self.R)
            rates = [(self._acked(n) - self._acked(n - k)) / (k + D) for k in range(1, most + 1)]
            beliefs["C_L"] = max([self.state[n - 1]["C_L"], *rates])
        if "C_U" in self.believes:
            beliefs["C_U"] = self._least_busy(n, steps)
        if "others_L" in self.believes:
            busy = all(self._busy(n - k) for k in range(OTHERS - 1)) and steps >= self.R + OTHERS
            own = self._acked(n) - self._acked(n - OTHERS)
            beliefs["others_L"] = max(ZERO, (beliefs["C_L"] * (OTHERS - 1 - D) - own) / OTHERS) if busy else ZERO
        return beliefs

    def _busy(self, n):
        """The last byte acknowledged at step n waited longer than jitter explains."""
        delay = self.delay(n)
        return self._measured(n) and not isinstance(delay, Unknown) and delay > self.path.D

    def _least_busy(self, n, steps):
        """C_U: a sample of up to four steps. In each a delay tells that the link was busy, and bytes were sent."""
        D, least = self.path.D, self.state[n - 1]["C_U"]
        for k in range(1, SAMPLE + 1):
            then = n - self.R - D - k + 2  # of what was sent: by that step, a step more than one that is looked at
            sends = self._observed("sent", then) > self._observed("sent", then - 1)
            if steps - self.R - D - k < 0 or not (sends and self._busy(n - k + 1)):
                break
            if k > D:
                least = min(least, (self._acked(n) - self._acked(n - k)) / (k - D))
        return least


def _at_least_0(delay):
    return Wait(max(ZERO, delay.steps), max(ZERO, delay.exact))


def _is_rate(program):
    """Whether what `send` returns alone is a rate: `# sends a rate` says so."""
    return "# sends a rate" in program.text


class RateSender:
    """A sender that has no memory but beliefs (docs/reference/encoding.md, section 6), which it measures in windows: at
    a window's first step it begins anew, with bounds that are true. A deployed one goes on with those that it had,
    which may be false, and which time out at a window's end."""

    def __init__(self, source, path, packet, kind, rng, deployed=False):
        self.program, self.path, self.packet, self.kind = compiled(source, ()), path, packet, kind
        self.deployed, self.untimed = deployed, {}
        self.rng, self.draw = rng, Draw(rng)
        self.rate, self.beliefs = [Fraction(rng.randint(1, 12), 6)] * (path.now + 1), [{}] * path.now
        self.restart()

    def restart(self):
        """Begin a window at the present step."""
        path, n = self.path, self.path.now
        self.begin = n
        if self.deployed and self.untimed:
            return
        # A packet larger than C·R_m is left to the check: no bound is true that is at least a packet and at most C.
        share = self.draw.share
        low = min(self.packet, Fraction(1))
        least = low + (1 - low) * share()
        most = 1 + 2 * share() if self.rng.random() < 0.8 else Fraction(50)
        probe = Fraction(1) if path.buffer is None else min(Fraction(1), (1 + path.buffer) / (path.D + 2))
        queue = max(ZERO, path.all_admitted(n) - path.K[n])
        unacknowledged = path.A[0][n] - self._found(n) - path.S[0][n]
        first = {"C_L": least, "C_U": most, "C_Llambda": min(low, probe) + max(ZERO, probe - low) * share()}
        first["q_U"] = queue + (unacknowledged - queue) * share()
        if self.deployed and self.rng.random() < 0.7:  # false
            first["C_L"], first["C_U"] = self.packet + 3 * share(), Fraction(1, 10) + 3 * share()
            first["C_Llambda"], first["q_U"] = self.packet + 2 * share(), unacknowledged * share()
        self.beliefs = [*self.beliefs[:n], first | self._delays(n)]

    def decide(self):
        """Decide at the next step. Returns how many bytes to send."""
        known = {**self.beliefs[-1], "R_m": Fraction(1), "D": Fraction(self.path.D), "MSS": self.packet}
        made = self.program.run("rate", known, self.draw)
        if made is None:
            raise Impossible
        self.rate.append(max(self.packet, made))
        return self.rate[-1]

    def decides_alike(self, n, most):
        """Return whether the rate of step n is the same if the sender caps a wait at a number of steps."""
        before = self.beliefs[n - 1]
        known = {**before, "R_m": Fraction(1), "D": Fraction(self.path.D), "MSS": self.packet}
        known["qdel_L"] = min(before["qdel_L"], Fraction(most))
        return max(self.packet, self.program.run("rate", known, Draw(random.Random(0)))) == self.rate[n]

    def look(self):
        """See what became of the step just past."""
        n, b, path, D = self.path.now, self.begin, self.path, self.path.D
        S, A, before = path.S[0], path.A[0], self.beliefs[-1]
        now = self._delays(n)
        now["C_L"] = max(before["C_L"], *((S[n] - S[s]) / (n - s + D) for s in range(b, n)))
        now["C_U"] = before["C_U"]
        for s in range(n - 1, b - 1, -1):
            if not self._utilised(s):
                break
            if n - s > D:
                now["C_U"] = min(now["C_U"], (S[n] - S[s]) / (n - s - D))
        now["C_Llambda"], quiet = before["C_Llambda"], True
        for e in range(n, b, -1):
            quiet = quiet and self._quiet(e - 1)
            if quiet and path.admitted(0, e) <= S[n]:
                now["C_Llambda"] = max(now["C_Llambda"], (A[e] - A[e - 1]) / (1 + D + 1))
        unacknowledged = A[n] - self._found(n) - S[n]
        now["q_U"] = min(unacknowledged, max(ZERO, before["q_U"] + self.rate[n] - now["C_Llambda"]))
        self.beliefs.append(now)

    def time_out(self):
        """What beliefs become at the end of a window (docs/reference/encoding.md, section 6, Timeouts)."""
        n, b = self.path.now, self.begin
        first, now = self.beliefs[b], self.beliefs[n]
        self.untimed = dict(now)
        low, high = now["C_L"], now["C_U"]
        far, crossed, raised, lowered = high > 2 * low, high < low, low > first["C_L"], high < first["C_U"]
        much_raised, much_lowered = 10 * low > 11 * first["C_L"], 11 * high < 10 * first["C_U"]
        if not raised and not far and ((lowered and crossed) or not much_lowered):
            S = self.path.S[0]
            now["C_L"] = max(self.packet, *((S[n] - S[s]) / (n - s + self.path.D) for s in range(b, n)))
        if not lowered and not far and ((raised and crossed) or not much_raised):
            now["C_U"] = max(now["C_L"], Fraction(3, 2) * self.beliefs[n - 1]["C_U"])
        if self._refuted():
            now["C_Llambda"] = max(self.packet, now["C_Llambda"] / 2)
            now["q_U"] = self.path.A[0][n] - self._found(n) - self.path.S[0][n]

    def _refuted(self):
        """No link explains the window on which C_Llambda and q_U are true."""
        path, b, D = self.path, self.begin, self.path.D
        for n in range(b + 1, path.now + 1):
            probe, first = self.beliefs[n]["C_Llambda"], path.first_wait(0, n)
            if path.S[0][n] > path.S[0][n - 1]:
                for d in range(D + 2, min(first, n - b) + 1):
                    if self.beliefs[n - d]["q_U"] <= (d - 1 - D) * probe:
                        return True
            lost = self._found(n) - self._found(n - 1)
            if n >= b + 2 and lost > 0 and lost > self.beliefs[n - 2]["q_U"] + self.rate[n - 1] - (D + 2) * probe:
                return True
        return False

    def _found(self, n):
        return self.path.L[0][n - 1] if n >= 1 else ZERO

    def _delays(self, n):
        waited = self.path.wait(0, n)
        steps = 0 if waited is None else waited[0]
        return {"qdel_L": Fraction(max(0, steps - self.path.D)), "qdel_U": Fraction(steps + 1)}

    def _utilised(self, k):
        waited = self.path.wait(0, k + 1)
        seen = (lambda n: self.path.L[0][n]) if self.kind == "ideal" else self._found
        return (waited is not None and waited[0] > self.path.D) or seen(k + 1) > seen(k)

    def _quiet(self, k):
        S, first = self.path.S[0], self.path.first_wait(0, k + 1)
        congested = first is not None and first >= self.path.D + 2 and S[k + 1] > S[k]
        return not (congested or self._found(k + 1) > self._found(k))
