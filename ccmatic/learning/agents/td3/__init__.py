"""TD3 (Fujimoto et al., 2018), by skrl."""
