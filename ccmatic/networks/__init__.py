"""Executions of networks: traces, simulation packet by packet, and export of traces."""
