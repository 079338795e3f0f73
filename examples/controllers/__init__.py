"""Controllers written by hand."""
