"""Generated files. `manifest.toml` records the command and the commit that made each; `rebuild.py` makes them again."""
