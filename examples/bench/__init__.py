"""The benchmark of learned senders, ccmatic-bench-v1: its suites, and the link traces that they use."""
