"""Answers to questions: verdicts and their replay, worst values, starvation, estimates, and explanations."""
