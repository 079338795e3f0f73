"""The algorithm TD3 (Fujimoto et al., 2018), as implemented by the library skrl."""
