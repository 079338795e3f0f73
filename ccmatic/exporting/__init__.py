"""Exported controllers: one C header for each, and the files of a target around it."""
