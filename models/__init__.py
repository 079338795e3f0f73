"""Network models: what a network may do to bytes. Each is a folder, whose `laws.py` sets MODEL."""

from ccmatic.base import Alias

#: Whose links are emulated, what those are without jitter, and those that a log of packets is asked about.
EMULATED, ASKED_OF_LOGS = "cbr_delay", ("cbr_delay", "ccac")
WITHOUT_JITTER = "ideal"

#: The network of a path that is described by its rate, with jitter; and the networks of senders by a window that stand
#: for those of rates; and the parameters by which several flows share a network, each measuring its own delay.
WITH_JITTER = "ccac"
BY_WINDOW = {"ccac": "ccac_windows", "cbr_delay": "cbr_delay_windows", "ideal": "ideal_windows"}
SHARED = "flows={flows},delay=own"

#: The network of two flows by a window on which one may starve the other: each has jitter of its own.
OWN_JITTER = "cbr_delay_own_jitter"

#: Names of models with parameters.
ALIASES = {
    "ccac2021_two_flows": Alias(
        "ccac2021:flows=2", "CCAC's published network with two senders, which run the same controller."
    ),
    "ccac2021_non_composing": Alias(
        "ccac2021:composing=no",
        "CCAC's published network where tokens are wasted only when nothing waits at the end of a step.",
    ),
    "ccac2021_anywhere": Alias(
        "ccac2021:begins=anywhere,delay=none",
        "CCAC's published network from any step of an execution on: bytes and tokens are counted from before it began, "
        "and no delay is measured, which the published network takes to be unknown at first.",
    ),
    "ccac2021_anywhere_non_composing": Alias(
        "ccac2021:composing=no,begins=anywhere,delay=open",
        "The network of ccac2021_non_composing from any step of an execution on: bytes and tokens are counted from "
        "before it began, and what was there at first may have waited for any time.",
    ),
    "ccac2021_anywhere_short_queue": Alias(
        "ccac2021:begins=anywhere,delay=none,most_queue=1",
        "CCAC's published network from any step on, in whose buffer no more than C·R_m ever waits, whatever its size.",
    ),
    "ccac_windows": Alias(
        "ccac2021:begins=anywhere,delay=open,timer=executions",
        "CCAC's network under senders by a window, true of executions: as published but for delays and timeouts.",
    ),
    "cbr_delay_windows": Alias(
        "ccac2021:begins=anywhere,delay=open,timer=executions,waste=constant-rate",
        "CBR-delay under senders by a window: ccac_windows on a link that serves at its rate whenever something waits.",
    ),
    "cbr_delay_own_jitter": Alias(
        "ccac2021:flows=2,begins=anywhere,timer=executions,waste=constant-rate,delay=own,jitter=own",
        "Two flows on a link of constant rate, each with jitter of its own behind it: two_flows_own_jitter, true of "
        "executions.",
    ),
    "ideal_windows": Alias(
        "ccac2021:begins=anywhere,delay=open,timer=executions,waste=constant-rate,D=0",
        "The ideal link under senders by a window: cbr_delay_windows without jitter.",
    ),
    "smooth_windows_1": Alias(
        "smooth_windows:window=1",
        "`smooth_windows` with a budget for each step alone: from one to the next the rate changes by at most 1/48 "
        "of C.",
    ),
    "smooth_windows_two_flows": Alias(
        "smooth_windows:flows=2,delay=own",
        "`smooth_windows` with two flows, first in, first out: each measures the delay of its own bytes.",
    ),
    "two_flows": Alias(
        "ccac2021:flows=2,delay=own",
        "Two flows on CCAC's network, first in, first out: each measures the delay of its own bytes.",
    ),
    "two_flows_constant_rate": Alias(
        "ccac2021:flows=2,waste=constant-rate,delay=own",
        "Two flows on a link of constant rate, with jitter behind it, first in, first out (CBR-delay).",
    ),
    "two_flows_own_jitter": Alias(
        "ccac2021:flows=2,waste=constant-rate,delay=own,jitter=own",
        "Two flows on a link of constant rate, each with jitter of its own behind it: CBR-delay, as in "
        "V. Arun, M. Alizadeh, H. Balakrishnan, 'Starvation in End-to-End Congestion Control', SIGCOMM 2022.",
    ),
    "varying_1_1": Alias("varying:variation=11/10", "`varying` with γ = 1.1: a rate that moves by a tenth."),
    "varying_2": Alias("varying:variation=2", "`varying` with γ = 2: a rate that doubles and halves."),
}
