"""Beliefs of senders about their path: one program per family of beliefs, and for each belief when it is true."""
