"""Models of this machine that write: about pictures and texts, or about texts only."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from inspect import signature
from itertools import islice
from typing import Any

import xxhash
from hannun.evaluation.models.loading import Kind, Loaded, memory_named
from hannun.evaluation.reply import AnyReply, Done, Key, Refused, Reply, Turn, Value
from hannun.evaluation.sampling import Sampling
from hannun.evaluation.shown_picture import PictureError, shown
from hannun.evaluation.yes_no import YesNo
from hannun.evaluation.yes_no_tokens import YesNoTokens, yes_no_tokens
from hannun.schemas.errors import InputError


class ChatModel:
    """Answers turns in batches.

    Parameters
    ----------
    batch_size
        Turns at a time.
    side
        Pixels of a picture's longer side, at most, before the model's own preparation.
    """

    def __init__(self, loaded: Loaded, *, batch_size: int, side: int) -> None:
        self._loaded, self._batch_size, self._side = loaded, batch_size, side
        # What is written comes after the last token: shorter texts are padded before their first.
        self._tokenizer.padding_side = "left"
        if self._tokenizer.pad_token is None:
            self._tokenizer.pad_token = self._tokenizer.eos_token
        if loaded.kind is Kind.VISION_LANGUAGE and not self._has_template:
            raise InputError(
                "the model does not say how a conversation with pictures is written", where=loaded.name,
                expected="a chat template", todo="take the model's instruction-tuned form",
            )  # fmt: skip

    def answers(self, turns: Iterable[tuple[Key, Turn]], sampling: Sampling) -> Iterator[Done[Key, AnyReply]]:
        """What comes of each turn, batch by batch."""
        return self._in_batches(turns, lambda batch, images: self._written(batch, images, sampling))

    def yes_or_no(self, turns: Iterable[tuple[Key, Turn]], tokens: YesNoTokens) -> Iterator[Done[Key, YesNo | Refused]]:
        """Probabilities of yes and no as the first token of the answer to each turn, batch by batch."""
        return self._in_batches(turns, lambda batch, images: self._first_tokens(batch, images, tokens))

    def yes_no_tokens(self, language: str) -> YesNoTokens:
        """The tokens of this model's vocabulary that say yes and no.

        Raises
        ------
        InputError
            Its vocabulary does not tell them apart.
        """
        tokenizer = self._tokenizer
        vocabulary = tokenizer.batch_decode([[token_id] for token_id in range(len(tokenizer))])

        def encode(text: str) -> Sequence[int]:
            ids: list[int] = tokenizer.encode(text, add_special_tokens=False)
            return ids

        return yes_no_tokens(vocabulary, encode, language)

    @cached_property
    def _tokenizer(self) -> Any:
        processor = self._loaded.processor
        return getattr(processor, "tokenizer", processor)

    def _in_batches(
        self, turns: Iterable[tuple[Key, Turn]], work: Callable[[Sequence[Turn], Sequence[list[Any]]], Sequence[Value]]
    ) -> Iterator[Done[Key, Value | Refused]]:
        """What `work` makes of each batch's turns and their pictures, or why a turn cannot be shown."""
        remaining = iter(turns)
        while True:
            begun = time.monotonic()
            taken = list(islice(remaining, self._batch_size))
            if not taken:
                return
            shown_to = [self._pictures(turn) for _, turn in taken]
            can = [
                (turn, images) for (_, turn), images in zip(taken, shown_to, strict=True) if isinstance(images, list)
            ]
            made = iter(work([turn for turn, _ in can], [images for _, images in can]) if can else ())
            share = (time.monotonic() - begun) / len(taken)
            for (key, _), images in zip(taken, shown_to, strict=True):
                yield Done(key, images if isinstance(images, Refused) else next(made), share)

    def _pictures(self, turn: Turn) -> list[Any] | Refused:
        if turn.pictures and self._loaded.kind is Kind.TEXT:
            return Refused("the model reads texts only")
        try:
            return [shown(each, self._side) for each in turn.pictures]
        except PictureError as error:
            return Refused(error.what)

    def _written(self, turns: Sequence[Turn], images: Sequence[list[Any]], sampling: Sampling) -> list[AnyReply]:
        import torch

        # A batch's own seed: the same rows in the same batch are answered alike, whatever came before.
        torch.manual_seed(xxhash.xxh3_64_intdigest(f"{sampling.seed}␟{turns[0].text}".encode()) >> 1)
        how = (
            {"do_sample": True, "temperature": sampling.temperature, "top_p": sampling.top_p, "top_k": 0}
            if sampling.temperature
            else {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}
        )
        inputs = self._inputs(turns, images)
        with torch.inference_mode(), memory_named():
            ids = self._loaded.model.generate(
                **inputs, **how, max_new_tokens=sampling.max_tokens, pad_token_id=self._tokenizer.pad_token_id
            )
        new = ids[:, inputs["input_ids"].shape[1] :].cpu()
        texts = self._tokenizer.batch_decode(new, skip_special_tokens=True)
        ends = self._ends
        return [
            Reply(text, cut=len(row) >= sampling.max_tokens and not ends & set(row.tolist()))
            for text, row in zip(texts, new, strict=True)
        ]

    @cached_property
    def _ends(self) -> set[int]:
        """Ids of the tokens that end an answer."""
        config = self._loaded.model.generation_config
        ids = config.eos_token_id if config.eos_token_id is not None else self._tokenizer.eos_token_id
        return set(ids) if isinstance(ids, list | tuple) else {ids}

    def _first_tokens(
        self, turns: Sequence[Turn], images: Sequence[list[Any]], tokens: YesNoTokens
    ) -> list[YesNo | Refused]:
        import torch

        with torch.inference_mode(), memory_named():
            logits = self._loaded.model(**self._inputs(turns, images), **self._last_only).logits[:, -1]
            probabilities = torch.softmax(logits.float(), dim=-1)
            yes, no = (probabilities[:, list(side)].double().sum(-1).tolist() for side in (tokens.yes, tokens.no))
        return [YesNo(*sides) for sides in zip(yes, no, strict=True)]

    @cached_property
    def _last_only(self) -> dict[str, int]:
        """Logits of the last place alone, where a model can leave the others out: they take most of the memory."""
        return {"logits_to_keep": 1} if "logits_to_keep" in signature(self._loaded.model.forward).parameters else {}

    def _inputs(self, turns: Sequence[Turn], images: Sequence[list[Any]]) -> Any:
        """Token ids, padded before the first, and pixels, on the model's device."""
        import torch

        processor, place = self._loaded.processor, self._loaded.place
        if not self._has_template:
            inputs = processor([turn.text for turn in turns], padding=True, return_tensors="pt")
        elif self._loaded.kind is Kind.TEXT:
            messages: list[Any] = [[{"role": "user", "content": turn.text}] for turn in turns]
            inputs = processor.apply_chat_template(
                messages, add_generation_prompt=True, tokenize=True, return_dict=True, return_tensors="pt", padding=True
            )
        else:
            messages = [[{"role": "user", "content": _content(*each)}] for each in zip(turns, images, strict=True)]
            inputs = processor.apply_chat_template(
                messages, add_generation_prompt=True, tokenize=True, return_dict=True, return_tensors="pt",
                processor_kwargs={"padding": True},
            )  # fmt: skip
        dtype = getattr(torch, place.dtype)
        moved = {name: value.to(place.device) for name, value in inputs.items()}
        return {name: value.to(dtype) if value.is_floating_point() else value for name, value in moved.items()}

    @property
    def _has_template(self) -> bool:
        """Whether the model says how a conversation is written; one without reads the text as it is."""
        return bool(self._tokenizer.chat_template or getattr(self._loaded.processor, "chat_template", None))


def _content(turn: Turn, images: Sequence[Any]) -> list[dict[str, Any]]:
    return [*({"type": "image", "image": each} for each in images), {"type": "text", "text": turn.text}]
