"""CCAC's network under senders by a window, true of executions: as published but for delays and timeouts.

Each step of an execution may be the first. A delay is what it was measured to be, or grows with time, and a timeout
fires where a loss was not found (docs/stateful.md).
"""

from ccmatic.models.ccac2021 import CCAC2021

MODEL = CCAC2021(begins="anywhere", delay="consistent", timer="of losses not found")
