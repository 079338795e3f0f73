"""The same links packet by packet: measured alike, and nearly the same."""

from support import learners  # noqa: F401, I001 (first: it may skip the rest)

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from ccmatic.base import InputError
from ccmatic.learning import LinkEnv, LinkParallelEnv

LINK = {"act": "rate", "observe": "beliefs", "rate": 32, "rtt": 32, "buffer_bdp": 1, "steps": 40, "first": 0.5}


def played(backend, **options):
    """Throughput (Mbit/s), RTT (ms) and loss in each interval, of a rate that goes up and down around the link's."""
    env = LinkEnv(backend=backend, **{**LINK, **options})
    env.reset(seed=3)
    told = [env.step([4e6 * (1 + 0.5 * np.sin(step / 3))])[-1] for step in range(40)]
    return np.array([[*each.values()] for each in told])


@pytest.mark.parametrize("options, throughput, rtt, loss", [
    ({}, 0.5, 1, 0.02),
    pytest.param({"jitter": 8, "loss": 0.02}, 1, 3, 0.02, marks=pytest.mark.slow),
    pytest.param({"links": "changing", "rate": [16, 32, 64], "period": 0.3}, 1, 4, 0.03, marks=pytest.mark.slow),
], ids=["constant", "jitter and losses", "changing"])  # fmt: skip
def test_fluids_are_near_packets(options, throughput, rtt, loss):
    fluid, packets = (played(backend, **options) for backend in ("fluid", "packets"))
    apart = np.abs(fluid.mean(0) - packets.mean(0))
    assert (apart <= (throughput, rtt, loss)).all(), apart
    if not options:
        assert (np.abs(fluid - packets).max(0) <= (0.5, 1, 0.02)).all()


def test_flows_that_learn_share_a_link_alike_in_fluids_and_in_packets():
    """Flows of 12 and 14 Mbit/s share 32 Mbit/s, and a flow of 8 Mbit/s joins them after half a second."""
    rates = {f"flow_{number}": np.array([mbit * 125_000], np.float32) for number, mbit in enumerate((12, 14, 8))}
    shares = {}
    for backend in ("fluid", "packets"):
        env = LinkParallelEnv(backend=backend, flows=3, **LINK | {"observe": "custard", "steps": 60, "starts": 0.5})
        env.reset(seed=3)
        infos = [env.step({agent: rates[agent] for agent in env.agents})[-1] for _ in range(60)]
        assert len(infos[5]) == 1 and len(infos[-1]) == 3
        late = [[[*measures.values()] for measures in info.values()] for info in infos[-20:]]
        shares[backend] = np.mean(late, axis=0)
    np.testing.assert_allclose(shares["packets"][:, 0], np.array([12, 14, 8]) * 32 / 34, rtol=0.02)
    assert (np.abs(shares["fluid"] - shares["packets"]) <= (0.2, 1, 0.02)).all(), shares


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*(Box observation|symmetric and normalized).*:UserWarning")
def test_the_check_of_an_environment_of_packets_finds_nothing():
    check_env(gymnasium.make("ccmatic/Link-v0", backend="packets", steps=5, jitter=3, loss=0.1).unwrapped)


@pytest.mark.parametrize("options, message", [
    ({"backend": "packet"}, "unknown back end 'packet'; did you mean 'packets'?"),
    ({"backend": "packets", "links": "smooth"}, "smooth links packet by packet; expected constant or changing ones"),
])  # fmt: skip
def test_what_packets_cannot_do_is_refused(options, message):
    with pytest.raises(InputError) as refused:
        LinkEnv(**options)
    assert message in str(refused.value)
