"""Actions: the rate of the next monitor interval, by a number that the learner chooses."""
