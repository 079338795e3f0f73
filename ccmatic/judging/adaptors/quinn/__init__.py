"""quinn-proto, whole: client, server, TLS and loss detection in virtual time."""

import re
from collections.abc import Mapping
from pathlib import Path

from ccmatic.base import InputError
from ccmatic.judging.adaptors.cargo import Crate, WholeStack

#: The methods of a controller in every supported version, and the methods in some versions only. The program forwards
#: calls of all these methods.
_ALWAYS = {"on_sent", "on_ack", "on_end_acks", "on_congestion_event", "on_mtu_update", "window", "clone_box"}
_ALWAYS |= {"initial_window", "into_any"}
_SOME = {"metrics", "on_spurious_congestion_event"}


def _differences(folder: Path) -> Mapping[str, str]:
    """Return the methods that the controllers of a version have, for the adaptor's build script."""
    text = (folder / "src" / "congestion.rs").read_text()
    trait = re.search(r"pub trait Controller\b.*?\n}", text, re.DOTALL)
    methods = set(re.findall(r"fn (\w+)", trait[0])) if trait else set()
    if missing := (_ALWAYS - methods) | (methods - _ALWAYS - _SOME):
        raise InputError(f"this version's controllers differ in {', '.join(sorted(missing))}", str(folder))
    ecn = {"is_ecn"} if trait and "is_ecn" in trait[0] else set()
    seed = {"seed_argument"} if "rng_seed: Option" in (folder / "src" / "endpoint.rs").read_text() else set()
    return {"CCMATIC_HAS": ",".join(sorted(methods & _SOME | ecn | seed))}


class Adaptor(WholeStack):
    """The adaptor of quinn-proto.

    Its sources support the versions from 0.11.0 on.
    """

    stack = "quinn"
    controllers = ("cubic", "newreno", "bbr")
    crate = Crate("quinn-proto", "0.11.19", _differences)
    notes = (
        "GSO is off: a datagram per call of poll_transmit",
        "the MTU is fixed: discovery and the detection of black holes are off",
        "no idle timeout; flow control limits no flow",
        "the application keeps 8 packets ready",
    )

    def versions(self) -> tuple[str, ...]:
        return tuple(f"0.11.{number}" for number in range(20))
