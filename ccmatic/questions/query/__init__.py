"""Queries: a network, a property of controllers on this network, and a template of controllers for synthesis."""

from ccmatic.questions.query.advice import advice
from ccmatic.questions.query.exclusions import beyond_window, knows_more, left_out, left_out_of_trace
from ccmatic.questions.query.network import DELAYS, LONGEST, Network
from ccmatic.questions.query.query import Decides, Query
from ccmatic.questions.query.reading import Asked, from_record, load, make, read_query

__all__ = [
    "DELAYS",
    "LONGEST",
    "Asked",
    "Decides",
    "Network",
    "Query",
    "advice",
    "beyond_window",
    "from_record",
    "knows_more",
    "left_out",
    "left_out_of_trace",
    "load",
    "make",
    "read_query",
]
