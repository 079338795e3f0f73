"""Adaptors. Each folder connects another project's stack to the path in virtual time, and builds this stack."""
