"""An independent simulator of networks and senders, and the check that every question admits its executions.

The simulator (`path.py`, `sender.py`, `program.py`, `runs.py`) and the random controllers import nothing of ccmatic:
they are written from docs/reference/stateful.md, docs/reference/encoding.md and docs/reference/flows.md.
`questions.py`, `worsts.py` and `guarantees.py` ask the product about their windows.
"""
