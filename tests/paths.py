"""Where the tests find their texts and the rest of the repository."""

from pathlib import Path

TESTS = Path(__file__).parent
GOLDEN = TESTS / "golden"
ROOT = TESTS.parent
SHARED = ROOT.parent / "shared"  # the original program's cases; not everywhere
