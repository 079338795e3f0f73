"""Examples: queries and controllers."""
