"""A flow: iperf3 over UDP at a constant rate, such as `iperf:24M`."""

from contextlib import contextmanager

from ccmatic.deployment.emulation.flows import Commands


class Iperf:
    """rate: as iperf3 reads it."""

    def __init__(self, rate):
        self.rate = rate

    @contextmanager
    def prepare(self, context):
        """As `ccmatic.deployment.emulation.flows` says."""
        place = ["--port", context.port, "--forceflush"]
        sender = ["iperf3", "--client", context.address, *place, "--udp", "--bitrate", self.rate]
        yield Commands(["iperf3", "--server", *place], sender)
