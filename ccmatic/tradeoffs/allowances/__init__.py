"""Loss allowances: the largest loss during a ramp, and the fastest ramp that each permits, exact and asymptotic."""
