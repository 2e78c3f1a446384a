"""Korean particles: which form follows which sound."""

from __future__ import annotations

import re

_FIRST, _LAST, _FINALS = 0xAC00, 0xD7A3, 28
_RIEUL = 8
_TAIL = "(?:는|은|도|만|요|의|야|까지|부터|서|써|서는|써는)?"
_AFTER_CONSONANT = re.compile(rf"(은|을|과|이|으로|이랑|이나|이에요|이어요|이야|이라도|이든지?){_TAIL}")
_AFTER_VOWEL = re.compile(rf"(는|를|와|가|로|랑|나|예요|여요|야|라도|든지?){_TAIL}")
_OTHER_FORM = {
    "은": "는", "을": "를", "과": "와", "이": "가", "으로": "로", "이랑": "랑", "이나": "나", "이에요": "예요",
    "이어요": "여요", "이야": "야", "이라도": "라도", "이든": "든", "이든지": "든지",
}  # fmt: skip
_CONSONANT_FORM = {vowel: consonant for consonant, vowel in _OTHER_FORM.items()}
_HANGUL = re.compile(r"[가-힣]*")


def wrong_particle(word: str, rest: str) -> tuple[str, str] | None:
    """The particle due after `word` and the one that stands there, where they differ.

    Only forms that are wrong for certain are named: a copula written out after a vowel (명사이다) is not.

    Parameters
    ----------
    word
        What the particle follows; its last letter decides.
    rest
        The text right after it.

    Examples
    --------
    >>> wrong_particle("배", "을 먹자")
    ('를', '을')
    >>> wrong_particle("말", "로 하자") is None
    True
    """
    final = _final_of(word)
    if final is None:
        return None
    following = _matched(_HANGUL, rest)
    if final == 0:
        found = _AFTER_CONSONANT.fullmatch(following)
        return (_OTHER_FORM[found.group(1)], found.group(1)) if found else None
    if final == _RIEUL and (_AFTER_CONSONANT.fullmatch(following) or _AFTER_VOWEL.fullmatch(following)):
        # After a final ㄹ the form is 로, as after a vowel.
        if following.startswith("으로"):
            return "로", "으로"
        if following.startswith("로"):
            return None
    found = _AFTER_VOWEL.fullmatch(following)
    return (_CONSONANT_FORM[found.group(1)], found.group(1)) if found else None


def _final_of(word: str) -> int | None:
    """Index of the last syllable's final consonant, 0 for none; None where the word does not end in Hangul."""
    last = ord(word[-1]) if word else 0
    return (last - _FIRST) % _FINALS if _FIRST <= last <= _LAST else None


def _matched(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.match(text)
    return found.group() if found else ""
