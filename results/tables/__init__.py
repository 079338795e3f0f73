"""Tables of studies, one file for each, as results/manifest.toml says."""
