"""Two flows on CCAC's network, true of executions, with losses."""

from ccmatic.models.ccac2021 import CCAC2021

MODEL = CCAC2021(flows=2, begins="anywhere", delay="each flow's own", timer="of losses not found")
