"""What senders believe of their path: one program for each family of beliefs, and what it means for each to be true."""
