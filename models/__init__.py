"""Network models: what a network may do to bytes."""

#: Whose links are emulated, what those are without jitter, and those that a log of packets is asked about.
EMULATED, ASKED_OF_LOGS = "cbr_delay", ("cbr_delay", "ccac")
WITHOUT_JITTER = "ideal"
