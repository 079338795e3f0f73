"""Actions: functions from the learner's number to the rate of the next monitor interval."""
