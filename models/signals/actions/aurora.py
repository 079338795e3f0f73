"""Aurora's action (ICML 2019, section 4.1): multiply the rate by 1 + α·a; if a < 0, divide by 1 - α·a. α is 0.025."""


def bounds():
    return [-10, 10]


def act(rate, action):
    change = 0.025 * action
    return rate * (1 + change) if change >= 0 else rate / (1 - min(change, 0))
