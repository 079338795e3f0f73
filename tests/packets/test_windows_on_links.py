"""Exported controllers that send by a window, over emulated links."""

import numpy as np
import pytest

from ccmatic.base.errors import InputError
from ccmatic.deployment.emulation import kinds, link, run
from support.machine import needs_bpf, on_time

#: A second, and R_m, ns.
SECOND, RM = 10**9, 20 * 10**6


@pytest.mark.parametrize("kind", ["udp", pytest.param("bpf", marks=needs_bpf)])
def test_no_more_is_out_than_the_window(iperf3, tmp_path, kind):
    """For four packets, acknowledged an R_m later, from the start of the flow on."""
    (tmp_path / "four.py").write_text("def send(MSS):\n    return 4 * MSS\n")
    log = emulate(link.of_texts("24mbit", "20ms", "1bdp"), f"{kind}:{tmp_path / 'four.py'}", 1)
    arrivals = np.sort(log["arrival"][log["size"] == 1500])
    assert arrivals[0] < SECOND / 2
    assert 0.8 * 4 * (SECOND - arrivals[0]) / RM < len(arrivals)
    assert (arrivals[4:] - arrivals[:-4]).min() >= RM


def emulate(asked, name, seconds):
    """The log of a flow over a link."""
    return on_time(
        lambda: run.run_flows(asked, [kinds.request(name)], seconds),
        lambda found: np.percentile(found.lateness, (50, 99)) / 1e6,
    ).log


def test_a_window_on_a_schedule_is_refused(emulator, tmp_path):
    (tmp_path / "schedule.csv").write_text(
        "# ccmatic schedule 1\n# rate 3000000\n# step 10000000\n# packet 1000\n# buffer infinite\n# queue 0\n"
        "time_ns,admitted,served\n0,0,0\n1000000000,3000000,3000000\n"
    )
    with pytest.raises(InputError, match="aimd has state, which a schedule does not give"):
        run.run_flows(link.of_schedule(tmp_path / "schedule.csv"), [kinds.request("udp:aimd")], 0.5)
