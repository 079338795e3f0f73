"""Beliefs of senders about their path.

Each module defines one family of beliefs: its program, and the conditions under which each belief is true.
"""
