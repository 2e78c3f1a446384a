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
from hannun.evaluation.fusion import RULE, fused
from hannun.evaluation.gold_rank import gold_rank
from hannun.evaluation.negatives import negatives_above_gold
from hannun.evaluation.ranking_file import CandidateScores, Rankings, unused_name
from hannun.evaluation.row_names import item_of
from hannun.evaluation.score import OVERALL, Comparison, Figure, RowScore, Scores, State
from hannun.evaluation.statistics import kendall_tau_b
from hannun.schemas.baselines import form_baselines
from hannun.schemas.instance import Instance, config_of

HITS, MRR = "Hits@1", "MRR"
_MEASURES = (HITS, MRR)
_MACRO = ("vwsd", "verse-spis", "wikidiverse")
"""The subsets of SAGE's macro-average."""
_NOTO = "-noto"
"""KoNA's configs with the other pictures."""


def selection_scores(
    benchmark: str, rows: Mapping[str, Instance], rankings: Rankings, configs: Sequence[str], *, fuse: bool = False
) -> Scores:
    """Scores of every model on each split of each config of which it ranked any row.

    What it did not rank of them counts as nothing.

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
    settings = {"ties": "expected over every order; bounds: against and for the gold"}
    notes = list(rankings.notes)
    if fuse:
        fusion = fused(list(models.values())) if len(models) > 1 else {}
        if fusion:
            models[unused_name(f"fusion of {len(models)}", models)] = fusion
            settings["fusion"] = RULE
        else:
            notes.append("nothing to fuse: it takes two models or more, and rows that all of them rank")
    attempted = {model: _attempted(of_model, rows) for model, of_model in models.items()}
    scored = [row for model, of_model in models.items() for row in _rows(model, of_model, attempted[model])]
    groups = {row_id: [lemma] for row_id, row in rows.items() if (lemma := _lemma(row))}
    place = {config: number for number, config in enumerate(configs)}
    scored.sort(key=lambda row: place[row.config])
    made = [figure for measure in _MEASURES for figure in figures(scored, measure, groups=groups)]
    overall = [each for each in made if each.group == OVERALL]
    return Scores(
        benchmark,
        (*made, *_macro(overall), *_negatives(models, attempted)),
        tuple(scored),
        (*_between_models(scored), *_between_wordings(scored, configs), *_between_subsets(overall)),
        settings=settings,
        notes=(*notes, *_split_notes(rows, scored), *_macro_notes(overall, configs), *_notes(rows, scored)),
    )


def _attempted(ranked: Mapping[str, CandidateScores], rows: Mapping[str, Instance]) -> list[Instance]:
    """All rows of the splits of which any row is ranked."""
    parts = {_part(rows[row_id]) for row_id in ranked}
    return [row for row in rows.values() if _part(row) in parts]


def _part(row: Instance) -> tuple[str, str]:
    """Config and split."""
    return config_of(row.id), row.split


def _rows(model: str, ranked: Mapping[str, CandidateScores], rows: Sequence[Instance]) -> Iterator[RowScore]:
    for row in rows:
        row_id, config = row.id, config_of(row.id)
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


def _negatives(
    models: Mapping[str, Mapping[str, CandidateScores]], attempted: Mapping[str, Sequence[Instance]]
) -> Iterator[Figure]:
    for model, ranked in models.items():
        yield from negatives_above_gold(model, ranked, attempted[model])


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


def _macro_notes(overall: Sequence[Figure], configs: Sequence[str]) -> Iterator[str]:
    """What a model lacks for the macro-average, where the benchmark has all of it."""
    if set(_MACRO) <= set(configs):
        for model in dict.fromkeys(each.model for each in overall):
            there = {each.config for each in overall if each.model == model}
            if lacking := [each for each in _MACRO if each not in there]:
                yield f"{model}: no macro-average of {', '.join(_MACRO)} without rankings of {', '.join(lacking)}"


def _split_notes(rows: Mapping[str, Instance], scored: Sequence[RowScore]) -> Iterator[str]:
    """What splits figures are over, where a config has several."""
    splits: dict[str, dict[str, None]] = defaultdict(dict)
    for row in rows.values():
        splits[config_of(row.id)][row.split] = None
    over: dict[tuple[str, str], set[str]] = defaultdict(set)
    for scored_row in scored:
        over[scored_row.config, scored_row.model].add(rows[scored_row.id].split)
    for (config, model), of_model in over.items():
        if len(splits[config]) > 1:
            named = " and ".join(each for each in splits[config] if each in of_model)
            yield f"{model}, {config}: over {named}" + (" together" if len(of_model) > 1 else " alone")


def _between_models(scored: Sequence[RowScore]) -> Iterator[Comparison]:
    configs = dict.fromkeys(row.config for row in scored)
    for config in configs:
        where = f", {config}" if len(configs) > 1 else ""
        by_model: dict[str, list[RowScore]] = defaultdict(list)
        for row in scored:
            if row.config == config:
                by_model[row.model].append(row)
        for measure in _MEASURES if len(by_model) > 1 else ():
            values = {model: row_means(of_model, measure) for model, of_model in by_model.items()}
            for first, second in combinations(values.items(), 2):
                yield compare(measure, (first[0] + where, first[1]), (second[0] + where, second[1]))


def _between_wordings(scored: Sequence[RowScore], configs: Sequence[str]) -> Iterator[Comparison]:
    """Configs whose instances are the same items: SPIS and neutralized, KoNA's three wordings."""
    there = {row.config for row in scored}
    # Rows of other benchmarks are numbered alike, and share most numbers by chance only.
    pairs = [pair for pair in combinations(configs, 2) if there.issuperset(pair) and _are_wordings(*pair)]
    compared = {config for pair in pairs for config in pair}
    values: dict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
    for row in scored:
        for measure in _MEASURES if row.config in compared else ():
            values[row.model, row.config, measure][item_of(row.id)] = row.values.get(measure, 0.0)
    for model in dict.fromkeys(row.model for row in scored):
        for first, second in pairs:
            for measure in _MEASURES:
                one, other = values[model, first, measure], values[model, second, measure]
                if one.keys() & other.keys():
                    yield compare(measure, (f"{model}, {first}", one), (f"{model}, {second}", other))


def _are_wordings(first: str, second: str) -> bool:
    """Whether two configs differ in their wording only: not in their data, and of KoNA not in its pictures too."""
    apart = ("vwsd", "wikidiverse")
    other_pictures = first.endswith(_NOTO) != second.endswith(_NOTO)
    one_wording = first.removesuffix(_NOTO) == second.removesuffix(_NOTO)
    return first not in apart and second not in apart and (one_wording or not other_pictures)


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
        ids = dict.fromkeys(row.id for row in scored if row.config == config)
        baselines = form_baselines({"candidates": rows[each].candidates, "label": rows[each].label} for each in ids)
        told = ", ".join(f"{name} {value:.3f}" for name, value in baselines.items())
        yield f"{config}, {HITS} without looking: {told}"
    for model, config in dict.fromkeys((row.model, row.config) for row in scored):
        ranked = [row for row in scored if (row.model, row.config, row.state) == (model, config, State.SCORED)]
        if tied := sum(row.flag == Flag.TIE for row in ranked):
            yield f"{model}, {config}: a tie at the gold's score in {tied / len(ranked):.1%} of the instances"
