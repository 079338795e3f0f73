"""PPO (Schulman et al., 2017), by skrl."""
