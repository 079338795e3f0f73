"""Two flows on a link of constant rate, each with jitter of its own behind it: CBR-delay, as SIGCOMM 2022 has it.

V. Arun, M. Alizadeh, H. Balakrishnan, "Starvation in End-to-End Congestion Control", SIGCOMM 2022.
"""

from ccmatic.models.ccac2021 import CCAC2021

MODEL = CCAC2021(flows=2, waste="constant rate", delay="each flow's own", jitter="each flow's own")
