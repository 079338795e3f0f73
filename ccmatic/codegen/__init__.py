"""Controllers as C: the decision generated from a controller's source, beliefs computed in integers, and targets."""
