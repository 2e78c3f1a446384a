"""Prompts: own wording for published protocols, in the language of the benchmark.

Names in braces are filled in; any other brace stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hannun.schemas.digest import IDENTITY, digests_of
from hannun.schemas.errors import InputError
from hannun.schemas.text_file import read_text

_NAME = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Prompt:
    """A wording with names in braces."""

    wording: str

    @property
    def digest(self) -> str:
        """`sha256:hex` of the wording."""
        return f"{IDENTITY}:{digests_of(self.wording.encode(), [IDENTITY])[IDENTITY]}"

    def filled(self, values: Mapping[str, str]) -> str:
        """The text with each of the names filled in; what is filled in is not looked at again."""
        return _NAME.sub(lambda found: values.get(found[1], found[0]), self.wording)


@dataclass(frozen=True)
class SelectionPrompts:
    """What a model is asked of one picture, in one language.

    `context` and `definition` ask whether the picture shows what the context's target, or a definition, means;
    `rate_context` and `rate_definition` how well; `constraint` puts a question of a side file.
    """

    context: Prompt
    definition: Prompt
    rate_context: Prompt
    rate_definition: Prompt
    constraint: Prompt


_YES_OR_NO = "\n\nAnswer with Yes or No only."
_INTEGER = "\n\nAnswer with one integer from 0 (not at all) to 100 (exactly), and nothing else."
_ENGLISH = SelectionPrompts(
    context=Prompt('Does the picture show what "{target}" means in this text?\n\n{context}' + _YES_OR_NO),
    definition=Prompt("Does the picture show this?\n\n{definition}" + _YES_OR_NO),
    rate_context=Prompt('How well does the picture show what "{target}" means in this text?\n\n{context}' + _INTEGER),
    rate_definition=Prompt("How well does the picture show this?\n\n{definition}" + _INTEGER),
    constraint=Prompt("{question}" + _YES_OR_NO),
)
_YES_OR_NO_KO = "\n\n‘예’ 또는 ‘아니오’로만 답하세요."
_INTEGER_KO = "\n\n0(전혀 아님)부터 100(꼭 맞음)까지의 정수 하나로만 답하세요."
_KOREAN = SelectionPrompts(
    context=Prompt("다음 글에 쓰인 ‘{target}’의 뜻을 이 그림이 나타내나요?\n\n{context}" + _YES_OR_NO_KO),
    definition=Prompt("이 그림이 다음 뜻을 나타내나요?\n\n{definition}" + _YES_OR_NO_KO),
    rate_context=Prompt("다음 글에 쓰인 ‘{target}’의 뜻을 이 그림이 얼마나 잘 나타내나요?\n\n{context}" + _INTEGER_KO),
    rate_definition=Prompt("이 그림이 다음 뜻을 얼마나 잘 나타내나요?\n\n{definition}" + _INTEGER_KO),
    constraint=Prompt("{question}" + _YES_OR_NO_KO),
)


def selection_prompts(language: str) -> SelectionPrompts:
    """Those of a language, `ko` or any other, which is asked in English."""
    return _KOREAN if language == "ko" else _ENGLISH


QUESTION = Prompt("{question}")
"""HAERAE-Vision and KOFFVQA: the question as it stands, after its pictures."""

_REFERENCE = "[참고 답변]\n{reference}\n\n"
# KOFFVQA's protocol (arXiv 2503.23730): question, criteria and answer, no picture; the last line states points of ten.
_KOFFVQA = """\
어느 그림에 관한 질문에 누군가 답했습니다. 아래 채점 기준만으로 그 답변에 0점부터 10점까지의 정수 점수를 매기세요.

[질문]
{question}

[채점 기준]
{criteria}

[답변]
{answer}

기준을 하나씩 답변과 견주어 충족하는지 짧게 밝히고, 충족한 기준의 점수를 더하세요. \
서로 배타적인 기준이면 맞는 것 하나의 점수만 주고, 기준에 없는 점수는 주지 않습니다. \
마지막 줄에는 아래 형식으로 점수만 쓰세요.
최종 점수: 10점 만점에 X점"""
# HAERAE-Vision's protocol (arXiv 2601.06165): 0, 0.5 or 1 for each item, their sum in a tag.
_HAERAE_VISION = """\
그림과 함께 올라온 질문에 누군가 답했습니다. 그 답변이 체크리스트의 항목을 얼마나 충족하는지 채점하세요.

[질문]
{question}

[체크리스트]
{criteria}

[답변]
{answer}

항목마다 까닭을 짧게 밝히고, 충족하면 1점, 일부만 충족하면 0.5점, 충족하지 않으면 0점을 주세요. \
마지막 줄에는 {count}개 항목의 점수를 더한 값 K를 아래 형식으로 쓰세요.
<score>K/{count}</score>"""
_JUDGING = {"koffvqa": _KOFFVQA, "haerae-vision": _HAERAE_VISION}

JUDGE_NAMES = ("question", "criteria", "count", "answer", "reference")
"""What a judge's prompt can name."""


def judge_prompt(benchmark: str, *, with_reference: bool) -> Prompt:
    """The prompt of a benchmark's judge."""
    wording = _JUDGING[benchmark]
    return Prompt(wording.replace("[답변]\n", f"{_REFERENCE}[답변]\n") if with_reference else wording)


def judge_prompt_file(path: Path) -> Prompt:
    """A judge's prompt from a file.

    Raises
    ------
    InputError
        It does not name the answer, or names in braces what does not exist.
    """
    prompt = Prompt(read_text(path).text)
    named = set(_NAME.findall(prompt.wording))
    known = ", ".join(f"{{{name}}}" for name in JUDGE_NAMES)
    if "answer" not in named:
        raise InputError(
            "the prompt does not show the judge the answer", where=str(path), expected=f"{{answer}}, and of {known}",
            todo="write {answer} where the answer belongs",
        )  # fmt: skip
    if unknown := sorted(named - set(JUDGE_NAMES)):
        raise InputError(
            "the prompt names what does not exist", where=str(path), expected=known, got=f"{{{unknown[0]}}}",
            todo="correct the name, or write it without braces",
        )  # fmt: skip
    return prompt
