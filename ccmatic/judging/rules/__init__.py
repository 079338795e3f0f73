"""The rules by which runs of code are judged."""
