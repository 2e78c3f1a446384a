"""How a model's text is sampled, with the settings that were published."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Sampling:
    """Settings of sampling; a temperature of 0 takes the likeliest token each time.

    `max_tokens` are those of the answer, thinking included.
    """

    temperature: float
    top_p: float
    max_tokens: int
    seed: int = 1

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def changed(self, *, temperature: float | None, max_tokens: int | None, seed: int) -> Sampling:
        """These settings with those that are given."""
        return Sampling(
            self.temperature if temperature is None else temperature,
            self.top_p,
            self.max_tokens if max_tokens is None else max_tokens,
            seed,
        )


PRESETS = {
    # HAERAE-Vision's paper (arXiv 2601.06165); GPT-5 was sampled at 1.0, the only temperature that it takes.
    "paper": Sampling(0.6, 0.95, 4096),
    # What HAERAE-Vision's own command line does when nothing is said (HAE-RAE/HAERAE-VISION).
    "upstream": Sampling(0.2, 0.95, 512),
    "greedy": Sampling(0.0, 1.0, 1024),
}

DEFAULT_PRESET = {"haerae-vision": "paper", "koffvqa": "greedy"}
"""KOFFVQA's paper publishes settings of its judge only: greedy."""

JUDGING = Sampling(0.0, 1.0, 2048)
ONE_INTEGER = Sampling(0.0, 1.0, 1024)
"""Room for a model that thinks before it says its integer."""
