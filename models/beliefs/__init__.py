"""Beliefs of senders about their path. Each module defines one family: its program, and when each belief is true."""
