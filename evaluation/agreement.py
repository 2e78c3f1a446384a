"""Agreement of annotators with the gold and with each other."""

from __future__ import annotations

import importlib.util
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hannun.evaluation.form import Answer
from hannun.schemas.instance import CANDIDATES, Instance, config_of


@dataclass(frozen=True)
class Doubt:
    """A row that annotators stumbled over: who chose what, what else they found to fit, what they remarked."""

    row_id: str
    gold: int
    choices: tuple[int, ...]
    also: tuple[int, ...]
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class Agreement:
    """One config's agreement.

    `with_gold` is each annotator's share of right answers among those given, in the order of the forms.
    `kappa` is Fleiss' kappa over the rows that all answered, its categories the ten places and "none";
    None, with `kappa_missing` saying why, where it cannot be computed.
    """

    config: str
    answered: tuple[int, ...]
    with_gold: tuple[float, ...]
    majority: float
    rows: int
    shared: int
    kappa: float | None
    kappa_missing: str | None
    doubts: tuple[Doubt, ...]


def agreements(rows: Sequence[Instance], forms: Sequence[Mapping[str, Answer]]) -> list[Agreement]:
    """Agreement for each config that somebody answered.

    Parameters
    ----------
    forms
        One for each annotator: row id -> answer.
    """
    by_config: dict[str, list[Instance]] = defaultdict(list)
    for row in rows:
        if any(row.id in form for form in forms):
            by_config[config_of(row.id)].append(row)
    return [_of_config(config, of_config, forms) for config, of_config in by_config.items()]


def _of_config(config: str, rows: Sequence[Instance], forms: Sequence[Mapping[str, Answer]]) -> Agreement:
    given = [[form[row.id] for form in forms if row.id in form] for row in rows]
    used = [form for form in forms if any(row.id in form for row in rows)]
    hits = [[form[row.id].choice == row.label for row in rows if row.id in form] for form in used]
    shared = [[answer.choice for answer in answers] for answers in given if len(answers) == len(used)]
    kappa, why = fleiss_kappa(shared, len(used))
    return Agreement(
        config=config,
        answered=tuple(len(each) for each in hits),
        with_gold=tuple(sum(each) / len(each) for each in hits),
        majority=sum(_majority(answers) == row.label for row, answers in zip(rows, given, strict=True)) / len(rows),
        rows=len(rows),
        shared=len(shared),
        kappa=kappa,
        kappa_missing=why,
        doubts=tuple(
            Doubt(
                row.id,
                row.label,
                tuple(answer.choice for answer in answers),
                tuple(answer.also for answer in answers if answer.also is not None),
                tuple(answer.remark or "어색함" for answer in answers if answer.remark or not answer.natural),
            )
            for row, answers in zip(rows, given, strict=True)
            if any(a.choice != row.label or a.also is not None or a.remark or not a.natural for a in answers)
        ),
    )


def fleiss_kappa(choices: Sequence[Sequence[int]], annotators: int) -> tuple[float | None, str | None]:
    """Fleiss' kappa by statsmodels, or why there is none.

    Parameters
    ----------
    choices
        For each row, everybody's choice: a place, or -1 for "none of them".
    """
    if annotators < 2:
        return None, "it takes two annotators"
    if not choices:
        return None, "no row was answered by all"
    if importlib.util.find_spec("statsmodels") is None:
        return None, "pip install 'hannun[scores]'"
    from statsmodels.stats.inter_rater import fleiss_kappa as of_table

    table = [[Counter(row)[place] for place in range(-1, CANDIDATES)] for row in choices]
    if sum(1 for place in zip(*table, strict=True) if any(place)) == 1:
        return None, "everybody always chose the same place"
    kappa = float(of_table(table))
    return (kappa, None) if math.isfinite(kappa) else (None, "not defined for these answers")


def _majority(answers: Sequence[Answer]) -> int | None:
    """The choice of more than half, or None."""
    choice, count = Counter(answer.choice for answer in answers).most_common(1)[0]
    return choice if 2 * count > len(answers) else None
