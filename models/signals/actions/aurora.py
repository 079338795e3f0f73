"""Aurora's action (ICML 2019, section 4.1): the rate times 1 + α·a, or divided by 1 - α·a if a < 0; α = 0.025."""


def bounds():
    return [-10, 10]


def act(rate, action):
    change = 0.025 * action
    return rate * (1 + change) if change >= 0 else rate / (1 - min(change, 0))
