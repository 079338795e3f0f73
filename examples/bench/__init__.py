"""The benchmark of learned senders, ccmatic-bench-v1: its suites, and the link traces that they use."""

#: The benchmark that plays if a user names none.
DEFAULT = "v1"
