"""CCAC's published network from any step on, in whose buffer no more than C·R_m ever waits, whatever its size."""

from ccmatic.models.ccac2021 import CCAC2021

MODEL = CCAC2021(begins="anywhere", delay="not measured", most_queue=1)
