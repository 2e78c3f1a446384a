"""KOFFVQA's language rule: an answer that is not Korean scores nothing.

The published rule (maum-ai/KOFFVQA, evaluate.py) keeps an answer that py3langid takes for Korean, or that holds only
digits (`str.isdigit`), ASCII punctuation and white space. Upstream does not pin py3langid; 0.4.0 has another model.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from string import punctuation, whitespace
from typing import Any

from hannun.evaluation.doubt import Flag
from hannun.schemas.errors import InputError

KOREAN = "ko"
_BATCH_BYTES = 1 << 22
# Closer than this, sums of single precision in another order may change places.
_MARGIN = 0.05
_PLAIN = punctuation + whitespace
_LETTERS = re.compile(r"[^\W\d_]")
_HANGUL = re.compile(r"[\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff\uffa0-\uffdc]")


@dataclass(frozen=True)
class Language:
    """What the rule says of one answer.

    Parameters
    ----------
    label
        py3langid's label of the answer as it is.
    only_digits
        Whether it holds only digits, punctuation and white space.
    label_nfc
        py3langid's label of its NFC form.
    """

    answer: str
    label: str
    only_digits: bool
    label_nfc: str

    @property
    def kept(self) -> bool:
        """Whether the published rule keeps the answer's score."""
        return self.label == KOREAN or self.only_digits

    @property
    def kept_nfc(self) -> bool:
        """The same of its NFC form, as the careful reading has it."""
        return self.label_nfc == KOREAN or self.only_digits

    @property
    def flag(self) -> Flag | None:
        if not self.answer.strip():
            return Flag.EMPTY_ANSWER
        if self.kept != self.kept_nfc or self.is_in_doubt:
            return Flag.LANGUAGE_IN_DOUBT
        return None if self.kept else Flag.NOT_KOREAN

    @property
    def is_in_doubt(self) -> bool:
        """Whether Korean letters stand in an answer that is refused, or few in one that is kept.

        Versions of py3langid do not agree on such answers.
        """
        answer = unicodedata.normalize("NFC", self.answer)
        hangul = len(_HANGUL.findall(answer))
        if self.kept and 2 * hangul >= len(answer):
            return False
        return hangul > 0 and (not self.kept or 2 * hangul < len(_LETTERS.findall(answer)))

    @property
    def note(self) -> str:
        rule = "only digits and punctuation" if self.only_digits else f"py3langid says {self.label}"
        return rule if self.kept == self.kept_nfc else f"{rule}, of its NFC form {self.label_nfc}"


def detector_version() -> str:
    """The version of py3langid.

    Raises
    ------
    InputError
        It is not installed.
    """
    if importlib.util.find_spec("py3langid") is None:
        raise InputError(
            "KOFFVQA's language rule needs py3langid",
            expected="py3langid, which tells whether an answer is Korean",
            got="not installed",
            todo="pip install 'hannun[scores]'",
        )
    return importlib.metadata.version("py3langid")


def languages(answers: Iterable[str]) -> dict[str, Language]:
    """What the rule says of each distinct answer."""
    distinct = list(dict.fromkeys(answers))
    nfc = {each: unicodedata.normalize("NFC", each) for each in distinct}
    labels = _labels(dict.fromkeys([*distinct, *nfc.values()]))
    return {each: Language(each, labels[each], _only_digits(each), labels[nfc[each]]) for each in distinct}


def _labels(texts: Iterable[str]) -> dict[str, str]:
    """py3langid's label of each text; texts of like length are walked through together."""
    labels: dict[str, str] = {}
    encoded = sorted(((text.encode("utf-8", errors="surrogatepass"), text) for text in texts), key=lambda e: len(e[0]))
    while encoded:
        # As many as fit beside the longest of them.
        count = max(1, min(len(encoded), _BATCH_BYTES // max(1, len(encoded[-1][0]))))
        batch = encoded[-count:]
        del encoded[-count:]
        for (_, text), label in zip(batch, _labels_of([data for data, _ in batch]), strict=True):
            labels[text] = label or str(_model().classify(text)[0])
    return labels


def _labels_of(texts: Sequence[bytes]) -> list[str | None]:
    """Labels by the model's own sums; None where two languages are too close for another order of summing."""
    import numpy as np
    from scipy.sparse import csr_array

    moves, weights, prior, names = _automaton()
    lengths = np.array([len(each) for each in texts])
    letters = np.zeros((len(texts), lengths.max()), dtype=np.uint8)
    for row, each in zip(letters, texts, strict=True):
        row[: len(each)] = np.frombuffer(each, dtype=np.uint8)
    visited = np.zeros(letters.shape, dtype=np.int32)
    state = np.zeros(len(texts), dtype=np.int32)
    for place in range(letters.shape[1]):
        state = moves[(state << 8) + letters[:, place]]
        visited[:, place] = state
    columns = visited[np.arange(letters.shape[1]) < lengths[:, None]]
    # A state that is visited twice stands there twice, and is summed.
    visits = csr_array(
        (np.ones(len(columns), dtype=np.float32), columns, np.concatenate([[0], np.cumsum(lengths)])),
        shape=(len(texts), len(weights)),
    )
    scores = visits @ weights + prior
    top = np.partition(scores, -2, axis=1)[:, -2:]
    settled = top[:, 1] - top[:, 0] >= _MARGIN
    return [names[place] if sure else None for place, sure in zip(scores.argmax(axis=1), settled, strict=True)]


@cache
def _automaton() -> tuple[Any, Any, Any, list[str]]:
    """py3langid's automaton over bytes.

    The next state by state * 256 + byte; what visiting a state adds to each language; what each language begins
    with; the languages.
    """
    import numpy as np

    model = _model()
    moves = np.asarray(model.tk_nextmove, dtype=np.int32)
    weights = np.zeros((len(moves) >> 8, len(model.nb_classes)), dtype=np.float32)
    for state, features in model.tk_output.items():
        weights[state] = model.nb_ptc[list(features)].sum(axis=0)
    return moves, weights, model.nb_pc, [str(each) for each in model.nb_classes]


@cache
def _model() -> Any:
    detector_version()
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_pickled_model(MODEL_FILE)


def _only_digits(answer: str) -> bool:
    return not answer.strip(_PLAIN) or all(each.isdigit() or each in _PLAIN for each in answer)
