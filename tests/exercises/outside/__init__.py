"""Definitions from outside ccmatic's tree, each one file, found by the entry points of this package."""
