"""Scores of image selection (SAGE, KoNA): Hits@1 and MRR, what outranks the gold, and how models and wordings differ.

SAGE (arXiv 2610.31838) publishes no rule for ties: they count as their expectation, with both extremes beside it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from hannun.evaluation.comparison import compare
from hannun.evaluation.doubt import Flag
from hannun.evaluation.figures import figures, mean, row_means
from hannun.evaluation.fusion import fused
from hannun.evaluation.gold_rank import gold_rank
from hannun.evaluation.ranking_file import CandidateScores, Rankings
from hannun.evaluation.row_names import item_of
from hannun.evaluation.score import OVERALL, Comparison, Figure, RowScore, Scores, State
from hannun.evaluation.statistics import kendall_tau_b
from hannun.schemas.baselines import form_baselines
from hannun.schemas.instance import KINDS, Instance, config_of

HITS, MRR = "Hits@1", "MRR"
_MEASURES = (HITS, MRR)
_MACRO = ("vwsd", "verse-spis", "wikidiverse")
"""The subsets of SAGE's macro-average."""


def selection_scores(
    benchmark: str, rows: Mapping[str, Instance], rankings: Rankings, configs: Sequence[str], *, fuse: bool = False
) -> Scores:
    """Scores of every model on each config of which it ranked any row; what it did not rank counts as nothing.

    Parameters
    ----------
    rows
        Row id -> row of the data set.
    configs
        The benchmark's configs, in its order.
    fuse
        Whether the reciprocal rank fusion of all models is one more.
    """
    models = dict(rankings.models)
    if fuse and len(models) > 1:
        models[f"fusion of {len(models)}"] = fused(list(models.values()))
    scored = [row for model, of_model in models.items() for row in _rows(model, of_model, rows)]
    groups = {row_id: [lemma] for row_id, row in rows.items() if (lemma := _lemma(row))}
    scored.sort(key=lambda row: configs.index(row.config))
    made = [figure for measure in _MEASURES for figure in figures(scored, measure, groups=groups)]
    overall = [each for each in made if each.group == OVERALL]
    return Scores(
        benchmark,
        (*made, *_macro(overall), *_above_gold(models, rows)),
        tuple(scored),
        (*_between_models(scored), *_between_wordings(scored, configs), *_between_subsets(overall)),
        settings={"ties": "expected over every order; bounds: against and for the gold"},
        notes=(*rankings.notes, *_notes(rows, scored)),
    )


def _rows(model: str, ranked: Mapping[str, CandidateScores], rows: Mapping[str, Instance]) -> Iterator[RowScore]:
    attempted = {config_of(row_id) for row_id in ranked}
    for row_id, row in rows.items():
        config = config_of(row_id)
        if config not in attempted:
            continue
        if row_id not in ranked:
            yield RowScore(row_id, config, _lemma(row), model, 0, State.MISSING, flag=Flag.MISSING)
            continue
        rank = gold_rank(ranked[row_id], row.label)
        bounds = {} if rank.tied == 1 else {HITS: rank.hit_bounds, MRR: rank.reciprocal_bounds}
        yield RowScore(
            row_id, config, _lemma(row), model, 0, State.SCORED, {HITS: rank.hit, MRR: rank.reciprocal}, bounds=bounds,
            flag=Flag.TIE if bounds else None, note=f"{rank.tied} tied with the gold" if bounds else None,
        )  # fmt: skip


def _lemma(row: Instance) -> str:
    """The verb or noun that an instance is about; nothing for an entity."""
    if config_of(row.id) == "wikidiverse":
        return ""
    word: str = row.source.get("noun") or row.source.get("lemma") or ""
    return word


def _above_gold(models: Mapping[str, Mapping[str, CandidateScores]], rows: Mapping[str, Instance]) -> Iterator[Figure]:
    """Share of each kind of negatives that outrank the gold, a group a kind, over all of them; a tie counts half."""
    for model, ranked in models.items():
        found: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
        for row_id, scores in ranked.items():
            row = rows[row_id]
            at = scores[row.label]
            for candidate, score in zip(row.candidates, scores, strict=True):
                if candidate.kind != "gold":
                    found[config_of(row_id), candidate.kind].append((float(score > at), float(score >= at)))
        for (config, kind), counts in sorted(found.items(), key=lambda each: (each[0][0], KINDS.index(each[0][1]))):
            low, high = (mean(each) for each in zip(*counts, strict=True))
            value = (low + high) / 2
            yield Figure(
                "negatives above gold", model, config, kind, rows=len(counts), scored=len(counts),
                value=value, scored_only=value, published=None, low=low, high=high,
            )  # fmt: skip


def _macro(overall: Sequence[Figure]) -> Iterator[Figure]:
    """SAGE's macro-average: the mean of its three subsets' Hits@1, where a model has all three."""
    for model in dict.fromkeys(each.model for each in overall):
        parts = [each for each in overall if each.model == model and each.measure == HITS and each.config in _MACRO]
        if len(parts) == len(_MACRO):
            yield Figure(
                f"{HITS}, macro-average", model, " + ".join(_MACRO), OVERALL, rows=sum(each.rows for each in parts),
                scored=sum(each.scored for each in parts), value=mean(each.value or 0.0 for each in parts),
                scored_only=None, published=None, low=mean(each.low for each in parts),
                high=mean(each.high for each in parts),
            )  # fmt: skip


def _between_models(scored: Sequence[RowScore]) -> Iterator[Comparison]:
    configs = dict.fromkeys(row.config for row in scored)
    for config in configs:
        where = f", {config}" if len(configs) > 1 else ""
        of_config = [row for row in scored if row.config == config]
        for measure in _MEASURES:
            values = {
                model: row_means((row for row in of_config if row.model == model), measure)
                for model in dict.fromkeys(row.model for row in of_config)
            }
            for first, second in combinations(values.items(), 2):
                yield compare(measure, (first[0] + where, first[1]), (second[0] + where, second[1]))


def _between_wordings(scored: Sequence[RowScore], configs: Sequence[str]) -> Iterator[Comparison]:
    """Configs whose instances are the same items: SPIS and neutralized, KoNA's three wordings."""
    values: dict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
    for row in scored:
        for measure in _MEASURES:
            values[row.model, row.config, measure][item_of(row.id)] = row.values.get(measure, 0.0)
    for model in dict.fromkeys(row.model for row in scored):
        there = [each for each in configs if (model, each, HITS) in values]
        for first, second in combinations(there, 2):
            for measure in _MEASURES:
                one, other = values[model, first, measure], values[model, second, measure]
                # Rows of other benchmarks are numbered alike, and share most numbers by chance only.
                if _are_wordings(first, second) and one.keys() & other.keys():
                    yield compare(measure, (f"{model}, {first}", one), (f"{model}, {second}", other))


def _are_wordings(first: str, second: str) -> bool:
    apart = ("vwsd", "wikidiverse")
    return first not in apart and second not in apart


def _between_subsets(overall: Sequence[Figure]) -> Iterator[Comparison]:
    """Whether two configs rank the models alike."""
    hits = {(each.config, each.model): each.value or 0.0 for each in overall if each.measure == HITS}
    for first, second in combinations(dict.fromkeys(config for config, _ in hits), 2):
        models = [model for config, model in hits if config == first and (second, model) in hits]
        if len(models) > 1:
            tau = kendall_tau_b([hits[first, each] for each in models], [hits[second, each] for each in models])
            yield Comparison(
                f"models ranked by {HITS}", first, second, len(models), None, tau.name, tau.statistic, tau.p,
                note=tau.note,
            )  # fmt: skip


def _notes(rows: Mapping[str, Instance], scored: Sequence[RowScore]) -> Iterator[str]:
    for config in dict.fromkeys(row.config for row in scored):
        of_config = [row.to_json() for row_id, row in rows.items() if config_of(row_id) == config]
        told = ", ".join(f"{name} {value:.3f}" for name, value in form_baselines(of_config).items())
        yield f"{config}, {HITS} without looking: {told}"
    for model, config in dict.fromkeys((row.model, row.config) for row in scored):
        ranked = [row for row in scored if (row.model, row.config, row.state) == (model, config, State.SCORED)]
        if tied := sum(row.flag == Flag.TIE for row in ranked):
            yield f"{model}, {config}: a tie at the gold's score in {tied / len(ranked):.1%} of the instances"
