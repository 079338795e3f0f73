"""Terms as C: integers and fixed point."""
