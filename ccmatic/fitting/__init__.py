"""Logs of packets, and which executions of a model they are."""

from ccmatic.fitting.log import NEVER, SECOND, PacketLog, packet_log
from ccmatic.fitting.readers import read

__all__ = ["NEVER", "SECOND", "PacketLog", "packet_log", "read"]
