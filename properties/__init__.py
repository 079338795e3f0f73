"""Properties: what a controller must ensure."""
