"""Loss allowances: bounds on the loss during a ramp, with the fastest ramp that each allowance permits."""
