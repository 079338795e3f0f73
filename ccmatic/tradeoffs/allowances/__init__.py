"""Loss allowances: bounds on the loss during a ramp, and the fastest ramp that each permits, exact and asymptotic."""
