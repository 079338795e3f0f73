"""Network models: the possible behaviour of networks. Each model is a folder, and its `laws.py` sets MODEL."""

from ccmatic.base import Alias

#: The model of emulated links, the models that are fitted to packet logs, and the model of a link without jitter.
EMULATED, ASKED_OF_LOGS = "cbr_delay", ("cbr_delay", "ccac")
WITHOUT_JITTER = "ideal"

#: The models whose links explain logs: one with a queue that is served at a rate, one with a bucket of tokens, one with
#: both, and one with a queue that marks packets.
QUEUES, POLICES, POLICED, MARKS = "cbr_delay", "policer", "policed", "marking"

#: Three constants: the network for a path with a given rate and jitter; the corresponding network of window senders for
#: each network of rate senders; and the parameters of a network that several flows share, where each flow measures its
#: own delay.
WITH_JITTER = "ccac"
BY_WINDOW = {
    "ccac": "ccac_windows",
    "cbr_delay": "cbr_delay_windows",
    "ideal": "ideal_windows",
    "policer": "policer_windows",
    "marking": "marking_windows",
    "lossy": "lossy_windows",
}
SHARED = "flows={flows},delay=own"

#: An example of a network that marks packets, for messages.
MARKED = "marking, buffer 1 bdp, threshold 1/2 bdp"

#: For each network of window senders, the network whose path changes once.
CHANGING = {
    "ccac_windows": "changing_windows",
    "cbr_delay_windows": "changing_windows:waste=constant-rate",
    "ideal_windows": "changing_windows:waste=constant-rate,D=0",
}

#: The network that loses bytes by chance.
LOSSY = "lossy"

#: The network of two window senders on which one may starve the other: each flow has its own jitter.
OWN_JITTER = "cbr_delay_own_jitter"

#: The names of models with parameters.
ALIASES = {
    "ccac2021_two_flows": Alias(
        "ccac2021:flows=2", "CCAC's published network with two senders, which run the same controller."
    ),
    "ccac2021_non_composing": Alias(
        "ccac2021:composing=no",
        "CCAC's published network, wasting tokens only if no bytes wait at the end of a step.",
    ),
    "ccac2021_anywhere": Alias(
        "ccac2021:begins=anywhere,delay=none",
        "CCAC's published network, starting at any step of an execution: counts of bytes and tokens continue from "
        "before, and senders measure no delay, which the published network takes to be unknown at first.",
    ),
    "ccac2021_anywhere_non_composing": Alias(
        "ccac2021:composing=no,begins=anywhere,delay=open",
        "The network of ccac2021_non_composing, starting at any step of an execution: counts of bytes and tokens "
        "continue from before, and the initial bytes may have waited for any time.",
    ),
    "ccac2021_anywhere_short_queue": Alias(
        "ccac2021:begins=anywhere,delay=none,most_queue=1",
        "CCAC's published network, starting at any step, with at most C·R_m waiting in a buffer of any size.",
    ),
    "ccac_windows": Alias(
        "ccac2021:begins=anywhere,delay=open,timer=executions",
        "CCAC's network for window senders, true of executions: as published except for delays and timeouts.",
    ),
    "cbr_delay_windows": Alias(
        "ccac2021:begins=anywhere,delay=open,timer=executions,waste=constant-rate",
        "CBR-delay for window senders: ccac_windows on a link that serves at its rate whenever bytes wait.",
    ),
    "cbr_delay_own_jitter": Alias(
        "ccac2021:flows=2,begins=anywhere,timer=executions,waste=constant-rate,delay=own,jitter=own",
        "Two flows on a link of constant rate, each with its own jitter behind the link: two_flows_own_jitter, true of "
        "executions.",
    ),
    "ideal_windows": Alias(
        "ccac2021:begins=anywhere,delay=open,timer=executions,waste=constant-rate,D=0",
        "The ideal link for window senders: cbr_delay_windows without jitter.",
    ),
    "smooth_windows_1": Alias(
        "smooth_windows:window=1",
        "`smooth_windows` with a budget per step: from one step to the next the rate changes by at most 1/48 of C.",
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
        "Two flows on a link of constant rate, each with its own jitter behind the link: CBR-delay, as in "
        "V. Arun, M. Alizadeh, H. Balakrishnan, 'Starvation in End-to-End Congestion Control', SIGCOMM 2022.",
    ),
    "varying_1_1": Alias("varying:variation=11/10", "`varying` with γ = 1.1: a rate that varies by a tenth."),
    "varying_2": Alias("varying:variation=2", "`varying` with γ = 2: a rate that doubles and halves."),
}
