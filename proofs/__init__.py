"""Proofs: lemma sets and the constants found for them."""
