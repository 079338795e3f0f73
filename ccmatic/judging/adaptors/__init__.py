"""Adaptors: each folder connects a stack of others to the path in virtual time, and says how it is built."""
