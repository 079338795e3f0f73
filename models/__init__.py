"""Network models: what a network may do to bytes."""
