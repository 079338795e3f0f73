"""Proofs: declared lemmas, whose constants `prove` finds."""

#: The shapes: proofs for any controller, without constants that an author chose. Without a given proof, `prove` tries
#: them in this order on each network, until one holds.
SHAPES = ("link_rate", "link_rate_used", "link_rate_large", "link_rate_any", "probes", "ideal_link")

#: The shapes for controllers that send by a window: one for those that read no delay, and one for those that do.
WINDOW_SHAPES = ("window_kept", "copa_any_start")

#: The proof of the trade-off between loss and convergence time. `tradeoff` checks its steps.
TRADEOFF = "loss_convergence"
