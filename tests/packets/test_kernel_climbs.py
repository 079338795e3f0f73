"""In the kernel, C_Llambda rises in each window by what is proved of it."""

import numpy as np

from ccmatic.deployment.emulation import kinds, link, run
from support import ROOT
from support.machine import needs_bpf, on_time

RM, WINDOW = 20 * 10**6, 9 * 2 * 20 * 10**6

#: results/proofs/cc_probe_slow_T10.json, `climb`: packets in a window.
PROVED = 0.3


def probes(log):
    """When a probing step begins, and how many packets it and the quiet step after it send: one more than thrice
    C_Llambda, and one. The next step begins after a pause."""
    times = log["arrival"][log["size"] == 1500]
    begins = np.flatnonzero(np.diff(times, prepend=-(10**9)) > RM)
    return times[begins], np.diff(begins, append=len(times))


@needs_bpf
def test_C_Llambda_climbs_as_proved(iperf3, tmp_path):
    """From a packet a step, without the start: over windows enough that none of them decides."""
    source = (ROOT / "synthesized/cc_probe_slow.py").read_text()
    (tmp_path / "probe.py").write_text(source.replace('start = "cc_qdel"\n', ""))
    asked, flow = link.of_texts("24mbit", "20ms", "1/4bdp"), f"bpf:{tmp_path / 'probe.py'}"
    emulation = on_time(
        lambda: run.run_flows(asked, [kinds.request(flow)], 7),
        lambda found: np.percentile(found.lateness, (50, 99)) / 1e6,
    )
    times, sizes = probes(emulation.log)
    # Not the handshake's, nor what the end cut off.
    at_ends = np.searchsorted(times, np.arange(10**9, times[-2], WINDOW))
    climbs = np.diff(sizes[at_ends]) / 3
    # Where this machine held up the sender for longer than jitter may, what it saw refutes C_Llambda, which is halved;
    # or two steps are taken for one.
    kept = climbs[(climbs > -sizes[at_ends][:-1] / 3 / 4) & (climbs < 4)]
    assert len(kept) >= 10
    assert PROVED <= kept.mean() <= 1.7, (times, sizes)
