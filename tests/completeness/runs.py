"""Long random executions, and the windows that are cut from them: all of it independent of ccmatic."""

import random
from dataclasses import dataclass, field
from fractions import Fraction

from . import controllers
from .path import Path
from .sender import Impossible, RateSender, WindowSender


@dataclass(frozen=True)
class Network:
    """A network that the product is asked about.

    Attributes:
        model: Its name, or a file in networks/.
        kind: The kind of its Path.
        D: The possible jitters.
        buffers: The possible buffers; None is infinite.
        R: R_m of each flow.
        windows: Whether its senders send by windows.
        origin: Whether service is counted from a window's first step. Then its timers are the published ones, and its
            buffers are infinite.
        own_boxes: As in Path.
    """

    model: str
    kind: str
    D: tuple = (1,)
    buffers: tuple = (None, "1/4", "1/2", "1", "2", "5")
    R: tuple = (1,)
    windows: bool = True
    origin: bool = False
    own_boxes: bool = False

    @property
    def flows(self):
        """How many."""
        return len(self.R)


NETWORKS = {
    each.model: each
    for each in (
        Network("ccac_windows", "ccac", (1, 1, 2)),
        Network("cbr_delay_windows", "cbr", (1, 1, 2)),
        Network("ideal_windows", "cbr", (0,)),
        Network("two_flows", "ccac", buffers=(None,), R=(1, 1), origin=True),
        Network("two_flows_constant_rate", "cbr", buffers=(None,), R=(1, 1), origin=True),
        Network("two_flows_own_jitter", "cbr", buffers=(None,), R=(1, 1), origin=True, own_boxes=True),
        Network("far_windows.py", "ccac", R=(2,)),
        Network("two_windows.py", "ccac", R=(1, 1)),
        Network("near_and_far.py", "cbr", R=(1, 2)),
        Network("ccac", "ccac", (1, 1, 2), windows=False),
        Network("cbr_delay", "cbr", (1, 1, 2), windows=False),
        Network("ideal", "cbr", (0,), windows=False),
    )
}


@dataclass
class Window:
    """A window of a run, as a trace has it: exact columns by name. waits: of each flow, at each step, the real delay in
    whole steps, however long. assumed: whether what controllers assume was true throughout."""

    run: "Run"
    begin: int
    horizon: int
    constants: dict
    columns: dict
    assumed: bool = True
    waits: list = field(default_factory=list)


class Run:
    """An execution, drawn from one seed.

    Its description is in `network`, `packet` (MSS), `buffer`, `D`, `written` (the controller of each flow) and
    `horizon` (of its windows).
    """

    def __init__(self, network, seed, steps=36, horizon=None, written=None, wrong=None, deployed=False, **given):
        self.network, self.seed, self.deployed = network, seed, deployed
        rng = self.rng = random.Random(f"{network.model} {seed}")
        self.D, self.horizon = rng.choice(network.D), rng.choice((4, 5, 5, 6, 7))
        buffer = rng.choice(network.buffers)
        packets = ("1/20", "1/10", "1/6", "1/5", "1/3", "2/3", "1", "3/2", "3")
        packets = packets if network.windows else ("1/20", "1/10", "1/7", "1/6", "1/4")
        self.packet = Fraction(rng.choice(packets))
        self.buffer = None if buffer is None else Fraction(buffer)
        self.__dict__.update(given)
        if self.buffer is not None and not network.windows:
            self.packet = min(self.packet, self.buffer / 2)  # a buffer holds a packet
        self.horizon = horizon or max(self.horizon, self.D + 2 + max(network.R))
        beside = network.flows > 1
        if written is None and network.windows:
            written = [controllers.by_window(rng, beside) for _ in range(rng.choice((1, network.flows)))]
        elif written is None:
            written = [controllers.by_rate(rng, network.model)]
        self.written = written
        self.path = self._path(rng, wrong)
        self.senders = []
        if network.windows:
            self._send_by_windows(rng, steps)
        else:
            self._send_by_rates(rng, steps)

    def _path(self, rng, wrong):
        way = rng.choice(("early", "late", "both", "random", "pauses", "random"))
        holds = {
            "early": lambda: Fraction(1),
            "late": lambda: Fraction(0),
            "both": lambda: Fraction(rng.choice((0, 1))),
            "random": lambda: Fraction(rng.choice((0, 1, 2, 3, 4)), 4),
            "pauses": lambda: Fraction(rng.choice((0, 0, 0, 1))),
        }[way]
        hides = rng.choice((lambda: Fraction(0), lambda: Fraction(1), lambda: Fraction(rng.choice((0, 1, 2)), 2)))
        # Elsewhere all of a step's bytes come evenly: what does not fit at its end is lost.
        early = rng.choice((0, 0, 1, Fraction(1, 2))) if self.network.windows and self.buffer is not None else 0
        orders = list(range(self.network.flows))

        def order(n):
            rng.shuffle(orders)
            return list(orders)

        return Path(
            self.network.kind,
            self.D,
            self.buffer,
            self.network.flows,
            lambda n: hides(),
            lambda n, flow: holds(),
            lambda n: early,
            order,
            self.network.own_boxes,
            wrong,
        )

    def _send_by_windows(self, rng, steps):
        path, network = self.path, self.network
        each = self.written * network.flows if len(self.written) == 1 else self.written
        for flow, (written, R) in enumerate(zip(each, network.R, strict=True)):
            self.senders.append(WindowSender(written.source, path, flow, R, self.packet, rng, network.flows > 1))
        self._before_sending()
        begins = self.burst = rng.choice((0, 0, 1, 2, 5, 12))
        for n in range(1, steps + 1):
            sent = [sender.decide() for sender in self.senders]
            if n == 1:
                sent = [Fraction(begins) + one for one in sent]
            lost = path.step(sent)
            for flow, sender in enumerate(self.senders):
                sender.sent([(position, bytes_) for of, position, bytes_ in lost if of == flow])
        self.first = 1  # at step 1 a queue may have come from nowhere

    def _before_sending(self):
        """For what is done with senders before they send."""

    def _send_by_rates(self, rng, steps):
        path, room = self.path, self.buffer
        queue = Fraction(rng.choice((0, 0, 1, 2, 5, 12)))
        path.step([queue if room is None else min(queue, 1 + room)])
        (written,) = self.written
        sender = RateSender(written.source, path, self.packet, self.network.model, rng, self.deployed)
        self.senders, self.begins, self._windows = [sender], [], []  # beliefs of each window
        while path.now + self.horizon - 1 <= steps:
            sender.restart()
            self.begins.append(path.now)
            for _ in range(self.horizon - 1):
                path.step([sender.decide()])
                sender.look()
            if self.deployed:
                sender.time_out()
            self._windows.append((list(sender.beliefs[-self.horizon :]), sender.untimed))

    def begins_at(self):
        """The steps at which windows may begin."""
        if not self.network.windows:
            return self.begins
        if not all(written.anywhere for written in self.written):
            return [0] if not self.burst else []
        return range(self.first, self.path.now - self.horizon + 2)

    def window(self, begin):
        """The window that begins at a step."""
        return (self._by_windows if self.network.windows else self._by_rates)(begin)

    def _by_windows(self, b):
        path, end, network = self.path, b + self.horizon, self.network
        shift = path.served[b] if network.origin else 0
        first, wasted = path.K[b] - shift, Fraction(b % 3)
        if network.origin:  # tokens are C·t - W
            first, wasted = Fraction(0), -first
        columns = {"W": [wasted + path.K[b] + t - path.K[b + t] for t in range(self.horizon)]}
        waits = []
        for flow, sender in enumerate(self.senders):
            of = flow + 1 if network.flows > 1 else ""
            back = path.S[flow][b] if network.origin else 0
            columns |= {f"{name}{of}": [v - back for v in getattr(path, name)[flow][b:end]] for name in "AS"}
            columns |= {f"L{of}": path.L[flow][b:end], f"Ld{of}": sender.lost[b:end]}
            columns |= {f"cwnd{of}": sender.window[b:end], f"r{of}": sender.rate[b:end]}
            if not network.origin:
                columns[f"found{of}"] = sender.found[b:end]
            if network.own_boxes:
                columns[f"K{of}"] = [v - back for v in path.let[flow][b:end]]
            places = dict(self.written[flow % len(self.written)].places)
            for name in sender.state[b]:
                moved = back if places.get(name) not in (None, "lost") else 0
                columns[f"{name}{of}"] = [Fraction(each[name]) - moved for each in sender.state[b:end]]
            waits.append([path.wait(flow, n) for n in range(b, end)])
        if network.flows == 1:
            columns["Q"] = [self._delay(w) for w in waits[0]]
        constants = {"C": Fraction(1), "R_m": Fraction(network.R[0]), "D": Fraction(self.D), "MSS": self.packet}
        if self.buffer is not None:
            constants["beta"] = self.buffer
        if not network.origin:
            constants["tokens_at_first"] = first + wasted
        assumed = all(all(sender.assumed[b + 1 : end]) for sender in self.senders)
        return Window(self, b, self.horizon, constants, columns, assumed, waits)

    def _delay(self, waited):
        """A delay as docs/reference/formats.md has it in traces of senders by a window: T where it is not known, and
        from T steps on one more than it is, up to 2·T + 1."""
        T = self.horizon
        if waited is None:
            return Fraction(T)
        return Fraction(waited[0] if waited[0] < T else min(waited[0] + 1, 2 * T + 1))

    def _by_rates(self, b):
        path, (sender,), T = self.path, self.senders, self.horizon
        end, served = b + T, path.S[0][b]
        beliefs, untimed = self._windows[self.begins.index(b)]
        columns = {name: [v - served for v in getattr(path, name)[0][b:end]] for name in "AS"}
        columns |= {"L": path.L[0][b:end], "r": sender.rate[b:end]}
        columns["Ld"] = [path.L[0][b - 1], *columns["L"][:-1]]
        columns["K"] = [v - served for v in path.K[b:end]] if self.network.model != "ideal" else columns["S"]
        waits = [path.wait(0, n) for n in range(b, end)]
        columns["Q"] = [Fraction(0 if w is None else min(w[0], T)) for w in waits]
        if self.network.model == "cbr_delay":
            firsts = [path.first_wait(0, n) for n in range(b, end)]
            columns["F"] = [Fraction(0 if w is None else min(w, T)) for w in firsts]
        names = ["C_L", "C_U", "qdel_L", "qdel_U"] + ["C_Llambda", "q_U"] * (self.network.model == "cbr_delay")
        columns |= {name: [each[name] for each in beliefs] for name in names}
        columns["qdel_L"] = [min(value, Fraction(T - self.D)) for value in columns["qdel_L"]]  # so much, or more
        for name in untimed.keys() & set(names) - {"qdel_L", "qdel_U"}:
            columns[f"{name}_untimed"] = [*columns[name][:-1], untimed[name]]
        constants = {"C": Fraction(1), "R_m": Fraction(1), "D": Fraction(self.D), "MSS": self.packet}
        if self.buffer is not None:
            constants["beta"] = self.buffer
        return Window(self, b, T, constants, columns, True, [waits])


__all__ = ["NETWORKS", "Impossible", "Network", "Run", "Window"]
