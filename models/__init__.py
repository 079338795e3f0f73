"""Network models: what a network may do to bytes."""

#: Whose links are emulated, and those that a log of packets is asked about.
EMULATED, ASKED_OF_LOGS = "cbr_delay", ("cbr_delay", "ccac")
