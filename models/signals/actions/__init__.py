"""Actions: functions from the learner's output, a number, to the sending rate of the next monitor interval."""
