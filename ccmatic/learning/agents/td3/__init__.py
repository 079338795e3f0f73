"""The algorithm TD3 (Fujimoto et al., 2018), compiled as one loop."""
