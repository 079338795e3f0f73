"""Proofs: lemma sets and the constants found for them."""

#: Those of any controller, without a constant that somebody chose: what `prove` tries that is not given a proof: on
#: each network in this order, until one holds.
SHAPES = ("link_rate", "link_rate_used", "link_rate_large", "link_rate_any", "probes", "ideal_link")

#: The same of controllers that send by a window: where they read no delay, and where they do.
WINDOW_SHAPES = ("window_kept", "copa_any_start")

#: The steps of the proof that losses and convergence time are traded, which `tradeoff` checks.
TRADEOFF = "loss_convergence"
