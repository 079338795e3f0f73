"""Templates: what shapes a controller may take."""
