"""Flows of exported controllers: `udp:CONTROLLER.py` in user space, `bpf:CONTROLLER.py` in the kernel."""

import subprocess
from contextlib import contextmanager
from dataclasses import replace
from typing import ClassVar

from ccmatic.codegen import build, files, header
from ccmatic.emulate import flows, machine


class Udp:
    """A controller that sends over UDP. On a schedule it takes the schedule's steps and beliefs, first sends its queue,
    and no belief times out before the end."""

    def __init__(self, controller):
        self.export = header.make(controller)

    @contextmanager
    def prepare(self, context):
        """As `flows` says."""
        schedule, export = context.link.schedule, self.export
        options = ["--packet", context.link.mtu, "--duration", context.seconds + 60]
        if schedule:
            export = replace(export, horizon=len(schedule.points) + 1, at_start=None)
            options += ["--step", schedule.step, "--queue", schedule.queue, *_start(export, schedule.beliefs)]
        sender, receiver = build.build_udp(_written(export, "udp", context))
        yield flows.Commands([receiver, context.port], [sender, *options, context.address, context.port])


def _start(export, beliefs):
    names = [belief.name for belief in export.model.beliefs if belief.name in beliefs]
    return ["--start", ",".join(f"{name}={beliefs[name]}" for name in names)] if names else []


class Bpf:
    """A controller that the kernel runs. It is registered, for the whole machine, as long as such a flow runs."""

    running: ClassVar[dict] = {}

    def __init__(self, controller):
        self.export = header.make(controller)

    @contextmanager
    def prepare(self, context):
        """As `flows` says."""
        name = build.kernel_name(self.export.name)
        (context.folder / machine.REGISTERED).write_text(name)
        if not self.running.get(name):
            build.register(build.build_bpf(_written(self.export, "bpf", context)))
        self.running[name] = self.running.get(name, 0) + 1
        try:
            # No bursts of segments: each is paced by itself.
            device = ["ip", "-n", context.senders, "link", "set", machine.DEVICE]
            subprocess.run([*device, "gso_max_segs", "1"], check=True)
            with flows.Kernel(name).prepare(context) as commands:
                yield commands
        finally:
            self.running[name] -= 1
            if not self.running[name]:
                build.unregister(name)


def _written(export, target, context):
    folder = context.folder / f"{target}-{context.port}"
    files.write(export, target, folder)
    return folder
