# python3 -m unittest discover tests
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "handlers"))

from count import count  # noqa: E402


class Count(unittest.TestCase):
    def test_letters(self) -> None:
        self.assertEqual(count("Hi, you!"), {"letters": 5})


if __name__ == "__main__":
    unittest.main()
