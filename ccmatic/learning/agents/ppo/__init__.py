"""The algorithm PPO (Schulman et al., 2017), as implemented by the library skrl."""
