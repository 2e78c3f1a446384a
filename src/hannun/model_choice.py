"""Which model, and the model itself: behind an endpoint, or loaded on this machine."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hannun.evaluation.models.endpoint import Address, Endpoint
from hannun.evaluation.reply import Answerer
from hannun.evaluation.shown_picture import SIDE
from hannun.schemas.errors import InputError

KEYS = ("HANNUN_API_KEY", "OPENAI_API_KEY")
"""Environment variables of an endpoint's key, the first that is set."""


@dataclass(frozen=True)
class ModelChoice:
    """Which model, and where it runs: behind an endpoint, or on this machine."""

    name: str
    endpoint: str | None = None
    revision: str | None = None
    device: Any = "auto"
    dtype: str = "auto"
    batch_size: int = 8
    max_side: int = SIDE
    deadline: float = 600.0


@dataclass(frozen=True)
class Model:
    """A model that is ready, and what its lines say of it."""

    choice: ModelChoice
    described: Mapping[str, Any]
    settings: Mapping[str, Any]
    versions: Mapping[str, str]
    endpoint: Endpoint | None = None
    loaded: Any = None

    @cached_property
    def answerer(self) -> Answerer:
        """What answers texts about pictures.

        Raises
        ------
        InputError
            The model only embeds.
        """
        if self.endpoint is not None:
            return self.endpoint
        from hannun.evaluation.models.chat_model import ChatModel
        from hannun.evaluation.models.loading import Kind

        if self.loaded.kind is Kind.DUAL_ENCODER:
            raise InputError(
                "the model embeds pictures and texts, and answers nothing", where=self.choice.name,
                expected="a model that writes", todo="rank with it: hannun eval run on kona or sage",
            )  # fmt: skip
        return ChatModel(self.loaded, batch_size=self.choice.batch_size, side=self.choice.max_side)


def ready_model(choice: ModelChoice) -> Model:
    """The model, loaded or addressed.

    Raises
    ------
    InputError
        It cannot be loaded, an extra is not installed, or the endpoint is no address.
    """
    settings: dict[str, Any] = {"batch_size": choice.batch_size, "max_side": choice.max_side}
    if choice.endpoint is not None:
        key = next((os.environ[name] for name in KEYS if os.environ.get(name)), None)
        address = Address.of(choice.endpoint, key, choice.deadline)
        endpoint = Endpoint(address, choice.name, at_once=choice.batch_size, side=choice.max_side)
        described = {"name": choice.name, "revision": None, "endpoint": address.base}
        return Model(choice, described, {**settings, "deadline": choice.deadline}, {}, endpoint=endpoint)
    from hannun.evaluation.models.loading import load, place, versions

    at = place(choice.device, choice.dtype)
    loaded = load(choice.name, at, choice.revision)
    described = {"name": choice.name, "revision": loaded.revision}
    return Model(choice, described, {**settings, "device": at.device, "dtype": at.dtype}, versions(), loaded=loaded)
