"""What a network can force on a controller, and what a controller can guarantee: searches over many verdicts."""
