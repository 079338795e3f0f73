"""What senders on many links estimate of them: bounds that they believe, and particles."""
