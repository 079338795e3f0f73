"""Controllers and policies that run: exported C, BPF and UDP, and emulated links."""
