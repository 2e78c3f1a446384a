"""What of a built folder may be uploaded, by its licences: a pure decision with its reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hannun.schemas.catalogue import Benchmark
from hannun.schemas.licence import Licence, Redistribution, Right, right_to_pass_on
from hannun.schemas.lock import LockEntry


@dataclass(frozen=True)
class Rights:
    """The right to each text, by the benchmark that it is of, and to each picture, by image id.

    `confirmed`: somebody stated to have the rights that are not known. What is forbidden stays forbidden.
    """

    texts: Mapping[str, Right] = field(default_factory=dict)
    images: Mapping[str, Right] = field(default_factory=dict)
    confirmed: bool = False

    def may(self, right: Right) -> bool:
        """Whether what has this right may be uploaded."""
        unknown = right.redistribution is Redistribution.UNKNOWN
        return right.redistribution is Redistribution.ALLOWED or (self.confirmed and unknown)

    @property
    def withheld_texts(self) -> dict[str, Right]:
        return {name: right for name, right in self.texts.items() if not self.may(right)}

    @property
    def withheld_images(self) -> dict[str, Right]:
        return {image_id: right for image_id, right in self.images.items() if not self.may(right)}

    @property
    def is_whole(self) -> bool:
        """Whether everything may be uploaded."""
        return not self.withheld_texts and not self.withheld_images

    def to_json(self) -> dict[str, Any]:
        """What recipe.json records of it: what was left out, and what somebody vouches for, each with its reason."""
        unknown = {key: each for key, each in self.texts.items() if each.redistribution is Redistribution.UNKNOWN}
        unknown_images = [each for each in self.images.values() if each.redistribution is Redistribution.UNKNOWN]
        vouched = _counted(unknown, unknown_images) if self.confirmed else []
        return {
            "withheld": _counted(self.withheld_texts, self.withheld_images.values()),
            **({"confirmed": vouched} if vouched else {}),
        }


def rights_of(benchmark: Benchmark, lock: Iterable[LockEntry], *, confirmed: bool = False) -> Rights:
    """The rights to all that a built folder holds.

    Parameters
    ----------
    lock
        The images that it holds.
    confirmed
        The uploader states to have the rights that are not known.
    """
    texts = {name: text_right(licence) for name, licence in benchmark.text_licences.items()}
    return Rights(texts, {entry.image_id: image_right(benchmark, entry) for entry in lock}, confirmed)


def text_right(licence: Licence) -> Right:
    """Whether texts under a licence of the catalogue may be passed on."""
    says = {Redistribution.ALLOWED: "allows it", Redistribution.FORBIDDEN: "forbids it"}
    why = says.get(licence.redistribution, "does not say whether it may be passed on")
    return Right(licence.redistribution, f"{licence.spdx or licence.name} {why}")


def image_right(benchmark: Benchmark, entry: LockEntry) -> Right:
    """Whether a picture may be passed on: its own licence decides, unless the benchmark's publisher forbids it."""
    whole = benchmark.image_licence
    if whole.redistribution is Redistribution.FORBIDDEN:
        return Right(Redistribution.FORBIDDEN, f"{whole.spdx or whole.name} forbids it")
    return right_to_pass_on(entry.licence, entry.attribution)


def _counted(texts: Mapping[str, Right], images: Iterable[Right]) -> list[dict[str, Any]]:
    counts = Counter((right.redistribution, right.why) for right in images)
    named = [
        {"what": f"texts of {name}", "redistribution": right.redistribution.value, "why": right.why}
        for name, right in sorted(texts.items())
    ]
    return named + [
        {"what": "pictures", "count": count, "redistribution": kind.value, "why": why}
        for (kind, why), count in sorted(counts.items())
    ]
