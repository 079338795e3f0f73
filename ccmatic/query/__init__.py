"""Queries: a network, what a controller must ensure on it, and, to synthesise, what shapes it may take."""

from ccmatic.query.advice import advice
from ccmatic.query.exclusions import beyond_window, knows_more, left_out
from ccmatic.query.network import DELAYS, Network
from ccmatic.query.query import Decides, Query
from ccmatic.query.reading import from_record, load, make

__all__ = [
    "DELAYS",
    "Decides",
    "Network",
    "Query",
    "advice",
    "beyond_window",
    "from_record",
    "knows_more",
    "left_out",
    "load",
    "make",
]
