"""What several tests share: files, runs and proofs to forge, and the definitions once more, apart from the engine."""

from pathlib import Path

TESTS = Path(__file__).parent.parent
ROOT = TESTS.parent
