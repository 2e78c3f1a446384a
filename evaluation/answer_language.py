"""KOFFVQA's language rule: an answer that is not Korean scores nothing.

The published rule (maum-ai/KOFFVQA, evaluate.py) keeps an answer that py3langid takes for Korean, or that holds only
digits (`str.isdigit`), ASCII punctuation and white space. Upstream does not pin py3langid; 0.4.0 has another model.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from string import punctuation, whitespace
from typing import Any

from hannun.evaluation.doubt import Flag
from hannun.schemas.errors import InputError

KOREAN = "ko"
_BATCH = 4_096
# Closer than this, sums of single precision in another order may change places.
_MARGIN = 0.05


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
        letters = [each for each in unicodedata.normalize("NFC", self.answer) if each.isalpha()]
        hangul = sum("HANGUL" in unicodedata.name(each, "") for each in letters)
        return hangul > 0 and (not self.kept or 2 * hangul < len(letters))

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
    texts = list(dict.fromkeys([*distinct, *nfc.values()]))
    labels: dict[str, str] = {}
    for start in range(0, len(texts), _BATCH):
        batch = texts[start : start + _BATCH]
        labels.update(zip(batch, _labels(_model(), batch), strict=True))
    return {each: Language(each, labels[each], _only_digits(each), labels[nfc[each]]) for each in distinct}


def _labels(model: Any, texts: Sequence[str]) -> list[str]:
    """py3langid's labels: its sums over the few features that a text has, in place of all 7,480."""
    import numpy as np
    from scipy.sparse import csr_array

    counts = [Counter(_features(model, text)) for text in texts]
    offsets = np.cumsum([0, *map(len, counts)])
    columns = np.fromiter((index for each in counts for index in each), dtype=np.int64, count=offsets[-1])
    values = np.fromiter((n for each in counts for n in each.values()), dtype=np.float32, count=offsets[-1])
    features = csr_array((values, columns, offsets), shape=(len(texts), model.nb_ptc.shape[0]))
    scores = features @ model.nb_ptc + model.nb_pc
    labels = [str(model.nb_classes[place]) for place in np.argmax(scores, axis=1)]
    top = np.partition(scores, -2, axis=1)[:, -2:]
    for number in np.flatnonzero(top[:, 1] - top[:, 0] < _MARGIN):
        labels[number] = str(model.classify(texts[number])[0])
    return labels


@cache
def _model() -> Any:
    detector_version()
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_pickled_model(MODEL_FILE)


def _features(model: Any, text: str) -> list[int]:
    """The features that a text has, each as often as it occurs: py3langid's own walk through its automaton."""
    state = 0
    found: list[int] = []
    moves, output = model.tk_nextmove, model.tk_output
    for byte in text.encode("utf-8", errors="surrogatepass"):
        state = moves[(state << 8) + byte]
        if state in output:
            found.extend(output[state])
    return found


def _only_digits(answer: str) -> bool:
    return all(each.isdigit() or each in punctuation or each in whitespace for each in answer)
