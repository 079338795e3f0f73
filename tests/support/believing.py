"""Senders that believe, and models in which they do so wrongly."""

#: Sends whatever the network likes, so that what is true of its beliefs is true of every sender's.
ANYONE = """pace: rate = above(0)
def update({believed}, line_rate):
    pace = between(0, line_rate)
def send(pace):
    return pace
"""

#: A model whose senders believe by another text.
PLANTED = """from dataclasses import replace
from ccmatic.models.ccac2021 import CCAC2021, DelayMeasurement, Waste

class Planted(CCAC2021):
    @property
    def observations(self):
        found = super().observations
        right = found[{believed!r}]
        assert {old!r} in right.source
        return found | {{right.name: replace(right, source=right.source.replace({old!r}, {new!r}))}}

MODEL = Planted(flows={flows}, waste=Waste.CONSTANT_RATE, delay=DelayMeasurement.PER_FLOW)
"""
