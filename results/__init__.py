"""Generated files. `manifest.toml` records the command and the commit of each; `rebuild.py` makes them again."""
