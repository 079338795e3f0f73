"""The algorithm PPO (Schulman et al., 2017), compiled as one loop."""
