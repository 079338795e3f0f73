"""CCAC's network under senders by a window, true of executions: as published but for delays and timeouts.

Each step of an execution may be the first. The delay of what was there at first is any, and a timeout
fires where a loss was not found (docs/stateful.md).
"""

from ccmatic.models.ccac2021 import CCAC2021

MODEL = CCAC2021(begins="anywhere", delay="open at first", timer="of losses not found")
