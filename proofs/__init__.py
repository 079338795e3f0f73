"""Proofs: lemma sets and the constants found for them."""

#: Those of any controller, without a constant that somebody chose: what `prove` tries that is not given a proof.
SHAPES = ("link_rate",)
