"""Where the gold stands among ten scores: ties count as their expectation over every order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum


@dataclass(frozen=True)
class GoldRank:
    """`better` candidates score more than the gold; `tied` score the same, the gold among them."""

    better: int
    tied: int

    @property
    def hit(self) -> float:
        """Hits@1, expected: 1, 0, or the chance to be drawn first among those tied at the top."""
        return 1 / self.tied if self.better == 0 else 0.0

    @property
    def hit_bounds(self) -> tuple[float, float]:
        """Hits@1 with ties broken against and for the gold."""
        return float(self.better == 0 and self.tied == 1), float(self.better == 0)

    @property
    def reciprocal(self) -> float:
        """Reciprocal rank, expected over the places that those tied may take."""
        return fsum(1 / (self.better + place) for place in range(1, self.tied + 1)) / self.tied

    @property
    def reciprocal_bounds(self) -> tuple[float, float]:
        """Reciprocal rank with ties broken against and for the gold."""
        return 1 / (self.better + self.tied), 1 / (self.better + 1)


def gold_rank(scores: Sequence[float], gold: int) -> GoldRank:
    """The gold's rank; -0.0 and 0.0 are the same.

    Parameters
    ----------
    scores
        Of each candidate, higher is better.
    gold
        The gold's place among them.
    """
    at = scores[gold]
    return GoldRank(sum([each > at for each in scores]), scores.count(at))
