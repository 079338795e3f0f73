"""A bottleneck behind which a box delays what leaves it, in bytes that flow evenly within a step; C = 1 byte a step.

Written from docs/reference/encoding.md, sections 2 to 4, and docs/reference/stateful.md. Everything is known from step
0 on; windows of it are cut later.
"""

from fractions import Fraction

ZERO = Fraction(0)


class Path:
    """kind: "ccac" is a token bucket that may hide tokens, "cbr" serves at its rate whenever something waits. D: the
    most jitter, in steps; 0 is the ideal link. buffer: in C·R_m, None if infinite. flows: how many.

    Functions of a step: hide gives the share of unused tokens that the bucket keeps; hold, also of a flow, the share of
    the bytes that could leave which do leave; early the share of a step's bytes that come at its beginning; split the
    order in which flows send. own_boxes: whether each flow has jitter of its own. wrong: a fault of the simulator, on
    purpose: "jitter", "waste" or "loss"."""

    def __init__(self, kind, D, buffer, flows, hide, hold, early, split, own_boxes=False, wrong=None):
        self.kind, self.D, self.buffer, self.flows, self.own_boxes = kind, D, buffer, range(flows), own_boxes
        self.hide, self.hold, self.early, self.split, self.wrong = hide, hold, early, split, wrong
        self.A = [[ZERO] for _ in self.flows]
        self.L = [[ZERO] for _ in self.flows]
        self.S = [[ZERO] for _ in self.flows]
        self.let = [[ZERO] for _ in self.flows]  # of each flow, what the bottleneck has let through
        self.K = [ZERO]
        self.served = [ZERO]
        self._left = [[ZERO] for _ in self.flows]  # of each flow, what was admitted
        self._admitted = [ZERO]
        self._waits, self._first_waits = {}, {}  # what `wait` and `first_wait` returned before
        self._waiting = []  # (flow, bytes) in the order in which they came, not let through yet
        self._boxed = []  # and let through, but not served

    @property
    def now(self):
        """The last step that was simulated."""
        return len(self.K) - 1

    def admitted(self, flow, n):
        """Bytes of a flow that were sent and not lost, by step n."""
        return self._left[flow][n] if n >= 0 else ZERO

    def all_admitted(self, n):
        """The same of all flows."""
        return self._admitted[n] if n >= 0 else ZERO

    def step(self, sent):
        """Advance one step, in which each flow sends some bytes.

        Returns (flow, position, bytes) of each loss. A position is the number of bytes of the flow that were admitted
        before.
        """
        came, tokens, total = self.all_admitted(self.now), self.K[-1], sum(sent)
        most, lost_early, lost_late = tokens + 1, ZERO, ZERO
        at_once = total * self.early(self.now + 1)
        if self.buffer is not None:
            lost_early = max(ZERO, came + at_once - tokens - self.buffer)
            lost_late = max(ZERO, came + total - lost_early - most - self.buffer)
        if self.wrong == "loss" and self.buffer is not None and total > lost_early + lost_late:
            lost_late += (total - lost_early - lost_late) / 2  # a fault of the simulator, on purpose
        lost = self._lose(sent, came, at_once, lost_early, lost_late)
        for flow in self.flows:
            self.A[flow].append(self.A[flow][-1] + sent[flow])
            self.L[flow].append(self.L[flow][-1] + sum(bytes_ for of, _, bytes_ in lost if of == flow))
            self._left[flow].append(self.A[flow][-1] - self.L[flow][-1])
        self._admitted.append(sum(self.admitted(flow, self.now + 1) for flow in self.flows))
        self._let_through(most)
        self._serve()
        return lost

    def _lose(self, sent, came, at_once, early, late):
        """Who loses what, and where."""
        lost, left = [], list(sent)
        order = self.split(self.now + 1)
        for amount, is_late in ((early, False), (late, True)):
            for flow in order:
                share = min(amount, left[flow])
                if share:
                    lost.append((flow, is_late, share))
                    left[flow] -= share
                    amount -= share
        placed = []
        for flow, is_late, share in lost:
            first, last = self.admitted(flow, self.now), self.admitted(flow, self.now) + left[flow]
            if not is_late:
                placed.append((flow, min(last, first + at_once), share))
            else:  # evenly, over the last half
                placed += [(flow, (first + last) / 2, share / 2), (flow, last, share / 2)]
        for flow in order:
            if left[flow]:
                self._waiting.append((flow, left[flow]))
        return placed

    def _let_through(self, most):
        n, came, before = len(self.K), self._admitted[-1], self.K[-1]
        if came >= most:
            tokens = most
        elif self.kind == "cbr":
            tokens = came
        else:
            least = max(before, came)
            tokens = least + (most - least) * self.hide(n)
        if self.wrong == "waste" and came > before:
            tokens = before + (tokens - before) / 2  # a fault of the simulator, on purpose
        self.K.append(tokens)
        # Tokens that are not used within D were wasted.
        for u in range(max(0, n - self.D), n + 1) if came < self.K[max(0, n - self.D)] else ():
            self.K[u] = min(self.K[u], came)
        passed = min(self.K[-1], came) - sum(let[-1] for let in self.let)
        for let in self.let:
            let.append(let[-1])
        for flow, bytes_ in _take(self._waiting, passed):
            self.let[flow][-1] += bytes_
            self._boxed.append((flow, bytes_))

    def _serve(self):
        n = self.now
        if self.own_boxes:
            for flow in self.flows:
                least = max(self.S[flow][-1], self.let[flow][n - self.D] if n >= self.D else ZERO)
                self.S[flow].append(least + (self.let[flow][-1] - least) * self.hold(n, flow))
            self.served.append(sum(self.S[flow][-1] for flow in self.flows))
            return
        least = max(self.served[-1], self.K[n - self.D] if n >= self.D else ZERO)
        if self.wrong == "jitter":
            least = self.served[-1]  # a fault of the simulator, on purpose
        most = min(self.K[-1], self._admitted[-1])
        self.served.append(least + (most - least) * self.hold(n, 0))
        for flow in self.flows:
            self.S[flow].append(self.S[flow][-1])
        for flow, bytes_ in _take(self._boxed, self.served[-1] - self.served[-2]):
            self.S[flow][-1] += bytes_

    def last_service(self, flow, n):
        """The last step until n in which bytes of a flow were served; 0 before any were."""
        served = self.S[flow]
        while n > 0 and served[n] == served[n - 1]:
            n -= 1
        return max(n, 0)

    def wait(self, flow, n):
        """(whole steps, exactly) that the last byte of a flow served by n waited; None before any was."""
        n = self.last_service(flow, n)
        if n > 0 and (flow, n) not in self._waits:
            self._waits[flow, n] = self._age(flow, self.S[flow][n], n)
        return self._waits[flow, n] if n > 0 else None

    def first_wait(self, flow, n):
        """Whole steps that the first byte served in the last step with service until n waited; None before any."""
        served, n = self.S[flow], self.last_service(flow, n)
        if n == 0:
            return None
        if (flow, n) not in self._first_waits:
            came = n
            while came > 0 and self.admitted(flow, came - 1) > served[n - 1]:
                came -= 1
            self._first_waits[flow, n] = n - came
        return self._first_waits[flow, n]

    def _age(self, flow, byte, n):
        came = n
        while came > 0 and self.admitted(flow, came - 1) >= byte:
            came -= 1
        before, after = self.admitted(flow, came - 1), self.admitted(flow, came)
        share = (byte - before) / (after - before) if came > 0 else 1
        steps = n - came
        left = Fraction(5 * n % 4, 4)  # when within its step it was served, before the step's end
        return steps, max(ZERO, n - left - (came - 1 + share))


def _take(queue, amount):
    """Remove the first bytes of a queue, and return them as pairs (flow, bytes)."""
    while amount > 0 and queue:
        flow, bytes_ = queue[0]
        part = min(bytes_, amount)
        amount -= part
        yield flow, part
        if part == bytes_:
            queue.pop(0)
        else:
            queue[0] = (flow, bytes_ - part)
