"""Error counts: how often people found each kind of error, beside one another as the papers' tables have them.

An annotation may name several errors, so the shares of one config may add up to more than one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from hannun.evaluation.error_annotations import ErrorAnnotation
from hannun.schemas import catalogue
from hannun.schemas.error_taxonomy import Taxonomy, taxonomy

FIELDS = ("root_cause", "errors", "severity")
"""The fields of an annotation that are counted, in order."""


@dataclass(frozen=True)
class ErrorTable:
    """One benchmark's annotations of one model.

    Parameters
    ----------
    annotations
        Config -> number of annotations: each annotator's of each answer counts once.
    counts
        (field, word) -> config -> number of annotations that hold the word. Words of the taxonomy come first, in
        its order, those that never occur too; then others, most frequent first.
    source
        Where the taxonomy is published; None where it is not known here and words were taken as they are.
    """

    benchmark: str
    model: str
    annotations: Mapping[str, int]
    counts: Mapping[tuple[str, str], Mapping[str, int]]
    source: str | None

    @property
    def configs(self) -> tuple[str, ...]:
        return tuple(self.annotations)

    def share(self, field: str, word: str, config: str) -> float:
        """Share of the config's annotations that hold the word, in [0, 1]."""
        return self.counts[field, word][config] / self.annotations[config]

    @property
    def change(self) -> tuple[str, str] | None:
        """The two configs whose shares are compared, the first taken from the second, where there are just two."""
        return (self.configs[0], self.configs[1]) if len(self.configs) == 2 else None


def error_tables(annotations: Iterable[ErrorAnnotation], given: Taxonomy | None = None) -> list[ErrorTable]:
    """A table for each benchmark and model, in the order in which they come; configs in the catalogue's order."""
    grouped: dict[tuple[str, str], list[ErrorAnnotation]] = defaultdict(list)
    for each in annotations:
        grouped[each.benchmark, each.model].append(each)
    return [_table(benchmark, model, of_model, given) for (benchmark, model), of_model in grouped.items()]


def _table(benchmark: str, model: str, annotations: Sequence[ErrorAnnotation], given: Taxonomy | None) -> ErrorTable:
    known = given if given is not None and given.benchmark == benchmark else taxonomy(benchmark)
    configs = _in_order(benchmark, Counter(each.config for each in annotations))
    counts: dict[tuple[str, str], dict[str, int]] = {}
    for field in FIELDS:
        said = Counter((word, each.config) for each in annotations for word in _words(each, field))
        vocabulary = known.vocabulary()[field] if known is not None else ()
        totals: Counter[str] = Counter()
        for (word, _), count in said.items():
            totals[word] += count
        for word in dict.fromkeys([*vocabulary, *(word for word, _ in totals.most_common())]):
            counts[field, word] = {config: said[word, config] for config in configs}
    return ErrorTable(benchmark, model, configs, counts, known.source if known is not None else None)


def _words(annotation: ErrorAnnotation, field: str) -> tuple[str, ...]:
    """What one annotation says in a field, each word once."""
    if field == "errors":
        return tuple(dict.fromkeys(annotation.errors))
    word = annotation.root_cause if field == "root_cause" else annotation.severity
    return (word,) if word is not None else ()


def _in_order(benchmark: str, annotations: Mapping[str, int]) -> dict[str, int]:
    names = [config.name for config in catalogue.benchmark(benchmark).configs] if benchmark in catalogue.names() else []
    order = {name: place for place, name in enumerate(names)}
    return dict(sorted(annotations.items(), key=lambda each: (order.get(each[0], len(order)), each[0])))
