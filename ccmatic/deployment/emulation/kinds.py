"""The kinds of flows by name. Other packages add kinds by entry points in the group `ccmatic.flows`.

- `udp:CONTROLLER.py` runs a controller in user space.
- `bpf:CONTROLLER.py` runs a controller in the kernel.
- `guard:ENVELOPE.py:NAME` runs a congestion control of the kernel within an envelope.
- `guard:ENVELOPE.py:policy:FILE` runs a trained policy within an envelope.
- `policy:FILE` runs a trained policy, also from an ONNX file.
"""

import re
import subprocess
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from ccmatic.base import InputError, definitions, installed, shown, suggest
from ccmatic.deployment import exporting, policies
from ccmatic.deployment.emulation import flows, machine
from ccmatic.deployment.emulation.flows import FlowRequest, Kernel, available, in_kernel
from ccmatic.deployment.emulation.link import SECOND, nanoseconds
from ccmatic.worlds.runtime import BPF_TOOLS, UDP_TOOLS, build_bpf, build_udp

_BTF = Path("/sys/kernel/btf/vmlinux")


class Udp:
    """A flow that runs a controller or a trained policy over UDP.

    On a link with a schedule, a controller takes its steps and initial beliefs from the schedule. The controller first
    sends as many bytes as wait at the start of the schedule. No belief times out before the schedule ends. A controller
    with state takes its steps and its initial state from the holds file.
    """

    tools = UDP_TOOLS

    def __init__(self, controller):
        self.export = (
            policies.exported(policies.load(controller))
            if policies.is_policy(controller)
            else exporting.make(controller)
        )

    @contextmanager
    def prepare(self, context):
        schedule, export = context.link.schedule, self.export
        if schedule and export.remembers:
            raise InputError(f"{export.name} has state, which a schedule does not give; expected a link")
        log = context.folder / f"udp-{context.port}.csv"
        options = ["--packet", context.link.mtu, "--duration", context.seconds + 60, "--log", log]
        if schedule:
            export = replace(export, horizon=len(schedule.points) + 1, at_start=None)
            names = {belief.name for belief in export.model.beliefs}
            beliefs = {name: value for name, value in schedule.beliefs.items() if name in names}
            options += ["--step", schedule.step, "--queue", schedule.queue, *_begins_with(beliefs)]
        if context.link.holds and export.remembers:
            options += _state_options(export, context.link.holds, context.number)
        sender, receiver = build_udp(_write(export, "udp", context))
        yield flows.Commands(
            [receiver, context.port], [sender, *options, context.address, context.port], log=_log(export, log)
        )


class Trained(Udp):
    """A flow over UDP that runs a trained policy, or a controller in an ONNX file.

    If the metadata of an ONNX file describe observations, the file is a policy. Otherwise it is a controller.
    """

    def __init__(self, file):
        if Path(file).suffix == ".onnx":
            super().__init__(file)
        else:
            self.export = policies.exported(policies.load(file))


class GuardedPolicy(Udp):
    def __init__(self, argument):
        self.export = policies.guarded(argument)


def _state_options(export, holds, number):
    given = holds.state[number] if number < len(holds.state) else {}
    return ["--step", holds.step // export.model.R, *_begins_with(export.kept(given))]


def _begins_with(values):
    return ["--start", ",".join(f"{name}={value}" for name, value in values.items())] if values else []


class Bpf:
    """A flow of a controller that the kernel runs.

    The controller is registered for the whole machine while its flow runs. The registered name is unique to the flow.
    So no flow ever runs another flow's code.
    """

    tools = (*BPF_TOOLS, *flows.Kernel.tools)

    def __init__(self, controller):
        self.export = exporting.make(controller)

    @contextmanager
    def prepare(self, context):
        if not _BTF.exists():
            raise InputError("this kernel has no BTF; expected one built with CONFIG_DEBUG_INFO_BTF")
        folder = _write(self.export, "bpf", context)
        name = exporting.kernel_name(self.export.name, f"{context.folder}:{context.port}")
        log = folder / "log.csv"
        command = [*reversed(build_bpf(folder, name)), log]
        with machine.Process(f"the loader of {name}", command, context.folder) as loader:
            loader.wait_until_ready()
            # Prevent bursts, so that the kernel paces each segment separately.
            device = ["ip", "-n", context.senders, "link", "set", machine.DEVICE]
            subprocess.run([*device, "gso_max_segs", "1"], check=True)
            with flows.Kernel(name).prepare(context) as commands:
                yield replace(commands, log=_log(self.export, log))


class Guard(Bpf):
    def __init__(self, argument):
        envelope, _, around = argument.rpartition(":")
        if not envelope:
            problem = f"found 'guard:{argument}'; expected an envelope and what to put it around"
            raise InputError(f"{problem}, such as guard:cc_qdel_wide:cubic")
        self.export = exporting.make_guard(envelope, around, horizon=policies.PROVED_HORIZON)
        if not flows.in_kernel(around):
            raise InputError(f"this kernel has no {around} to guard; expected one of {', '.join(flows.available())}")


def guard(argument):
    return (GuardedPolicy if f":{policies.GUARDED}:" in argument else Guard)(argument)


def _log(export, file):
    """Return the flows.Log of beliefs; None for a controller without beliefs."""
    if export.remembers:
        return None
    return flows.Log(file, export.model, export.horizon - 1, export.controller if export.is_envelope else None)


def _write(export, target, context):
    folder = context.folder / f"{target}-{context.port}"
    exporting.write(export, target, folder)
    return folder


#: The kinds of flows other than congestion controls of the kernel.
KINDS = {"udp": Udp, "bpf": Bpf, "guard": guard, "policy": Trained}


#: The syntax of a request: FLOW, FLOW@START or FLOW@START-STOP, optionally followed by ,rtt=R_m.
_REQUEST = re.compile(r"(?P<flow>[^@]+?)(?:@(?P<start>[^@,-]+)(?:-(?P<stop>[^@,-]+))?)?(?:,rtt=(?P<rtt>[^@,]+))?")


def timetable(texts, seconds):
    """Return the FlowRequests of texts for a run of this many seconds."""
    flows = [request(text) for text in texts]
    for flow in flows:
        if max(flow.start + 1, flow.stop or 0) > seconds * SECOND:
            raise InputError(f"the flow '{flow.name}' lasts longer than the run of {seconds:g} s")
    if flows and min(flow.start for flow in flows) > 0:
        raise InputError("no flow starts at 0 s; expected one that sends the first packet")
    return flows


def with_competitors(texts, named):
    """Return the requests of a run in which the first flow competes with those that expectations name after `beside`.

    A single flow gets the named flow as its competitor. Several flows stay as they are.
    """
    if len(texts) == 1 and len(named) == 1:
        return [*texts, *named]
    others = [re.split("@|,rtt=", text)[0] for text in texts[1:]]
    missing = [name for name in named if name not in others]
    if missing:
        message = f"an expectation compares {shown(texts[0])} with {shown(missing[0])}, but the flows are"
        wanted = f"--flow {shown(missing[0])} as well, after the first flow"
        raise InputError(f"{message} {', '.join(map(shown, texts))}; expected {wanted}")
    return list(texts)


def request(text):
    """Return the FlowRequest of a text such as `cubic`, `cubic@10s-30s` or `udp:cc_qdel@10s,rtt=80ms`."""
    match = _REQUEST.fullmatch(text)
    if not match:
        raise InputError(f"cannot read the flow '{text}'; expected such as cubic, cubic@10s-30s or cubic@10s,rtt=80ms")
    start = nanoseconds(match["start"] or "0s", f"the start of flow '{text}':", least=0)
    stop, rtt = (match[part] and nanoseconds(match[part], f"{part} of flow '{text}':") for part in ("stop", "rtt"))
    if stop is not None and stop <= start:
        raise InputError(f"the flow '{text}' stops before it starts; expected a later stop")
    return FlowRequest(text, flow(match["flow"]), start, stop, rtt)


def flow(text):
    kind, colon, argument = text.partition(":")
    if kind in KINDS:
        return KINDS[kind](argument)
    if not colon and in_kernel(kind):
        return Kernel(kind)
    added = installed.points("flows", KINDS)
    if kind in added:
        return installed.load(added[kind])(argument)
    if colon:
        raise InputError(f"unknown kind of flow '{kind}' in '{text}'; known: {', '.join([*KINDS, *added])}")
    if definitions.is_controller(text):
        raise InputError(f"'{text}' is a controller, not a flow; did you mean 'udp:{text}' or 'bpf:{text}'?")
    raise InputError(f"no congestion control '{kind}' in this kernel; {suggest(kind, [*available(), *KINDS, *added])}")


def is_flow(text):
    return text.partition(":")[0] in KINDS or (not definitions.is_controller(text) and in_kernel(text))
