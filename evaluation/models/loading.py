"""Models of this machine, by transformers: what kind one is, where it runs, and which very files it is."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

from hannun.schemas.digest import FAST, Digester
from hannun.schemas.errors import IncompleteError, InputError

EXTRA = "pip install 'hannun[eval]'"
DTYPES = ("auto", "bfloat16", "float16", "float32")
_CHUNK = 1 << 20

Device = Literal["auto", "cuda", "cpu"]


class Kind(StrEnum):
    """What a model does: embeds texts and pictures, writes about pictures, or writes about texts only."""

    DUAL_ENCODER = "dual-encoder"
    VISION_LANGUAGE = "vision-language"
    TEXT = "text"


@dataclass(frozen=True)
class Place:
    """Where a model runs, and in which numbers."""

    device: str
    dtype: str


@dataclass(frozen=True)
class Loaded:
    """A model and what makes its inputs.

    `revision` is its commit on the Hub, or `xxh3_128:hex` over the files of a local folder.
    """

    name: str
    revision: str | None
    kind: Kind
    model: Any
    processor: Any
    place: Place


def place(device: Device, dtype: str) -> Place:
    """Where a model is to run: on a GPU where there is one, in bfloat16 there and in float32 elsewhere.

    Raises
    ------
    InputError
        The extra is not installed, or there is no GPU though one is asked for.
    """
    _need_packages()
    import torch

    there = torch.cuda.is_available()
    if device == "cuda" and not there:
        raise InputError(
            "no GPU is at hand", where="--device", expected="one that CUDA finds",
            got=f"torch {torch.__version__} finds none", todo="use --device cpu, or install a torch for your driver",
        )  # fmt: skip
    chosen = "cuda" if there and device != "cpu" else "cpu"
    return Place(chosen, dtype if dtype != "auto" else "bfloat16" if chosen == "cuda" else "float32")


def load(name: str, at: Place, revision: str | None = None) -> Loaded:
    """Load a model.

    Parameters
    ----------
    name
        A folder, or a repository of the Hugging Face Hub.
    revision
        Branch, tag or commit on the Hub.

    Raises
    ------
    InputError
        The extra is not installed; there is no such model; it cannot be loaded; it is of no kind that is known here.
    """
    _need_packages()
    if not Path(name).is_dir() and (Path(name).is_absolute() or name.startswith((".", "~"))):
        raise InputError("no such folder", where=name, todo="check the path")
    import torch
    import transformers
    from huggingface_hub.errors import HFValidationError

    with _quiet(transformers):
        try:
            config = transformers.AutoConfig.from_pretrained(name, revision=revision)
            kind = _kind(config, name)
            loader = {
                Kind.DUAL_ENCODER: transformers.AutoModel,
                Kind.VISION_LANGUAGE: transformers.AutoModelForImageTextToText,
                Kind.TEXT: transformers.AutoModelForCausalLM,
            }[kind]
            model = loader.from_pretrained(name, revision=revision, dtype=getattr(torch, at.dtype))
            maker = transformers.AutoTokenizer if kind is Kind.TEXT else transformers.AutoProcessor
            processor = maker.from_pretrained(name, revision=revision)
        except ImportError as error:
            raise InputError(
                "the model needs a package that is not installed", where=name, got=_first_line(error), todo=EXTRA
            ) from None
        # What transformers raises for a model that is not there, is broken, or wants code of its own to run.
        except (OSError, ValueError, KeyError, RuntimeError, HFValidationError) as error:
            raise InputError(
                "the model cannot be loaded", where=name, got=_first_line(error),
                todo="give a folder or a repository of the Hub whose model transformers has; its own code is not run",
            ) from None  # fmt: skip
    with memory_named():
        model = model.to(at.device).eval()
    known = getattr(config, "_commit_hash", None)
    folder = Path(name)
    return Loaded(name, _digest(folder) if folder.is_dir() else known, kind, model, processor, at)


@contextmanager
def memory_named() -> Iterator[None]:
    """A device whose memory is full is named, with what helps."""
    import torch

    try:
        yield
    except torch.OutOfMemoryError as error:
        raise IncompleteError(
            "the device's memory is full", got=_first_line(error),
            todo="run again with a smaller --batch-size or --max-side; what is done is kept",
        ) from None  # fmt: skip


def versions() -> dict[str, str]:
    """Of the packages that decide what a model of this machine says."""
    return {name: importlib.metadata.version(name) for name in ("torch", "transformers", "tokenizers", "pillow")}


def _need_packages() -> None:
    for package in ("torch", "transformers"):
        if importlib.util.find_spec(package) is None:
            raise InputError(
                f"{package} is not installed, and models of this machine need it",
                todo=f"{EXTRA}, or give an endpoint: --endpoint http://localhost:8000/v1",
            )


def _kind(config: Any, name: str) -> Kind:
    from transformers.models.auto import modeling_auto as auto

    architectures = set(config.architectures or ())
    vision_language = auto.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES
    dual = auto.MODEL_FOR_ZERO_SHOT_IMAGE_CLASSIFICATION_MAPPING_NAMES
    # Some types are two kinds: the saved class says which.
    if architectures & _classes(vision_language):
        return Kind.VISION_LANGUAGE
    if architectures & _classes(dual) or config.model_type in dual:
        return Kind.DUAL_ENCODER
    causal = auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    if config.model_type in vision_language and not architectures & _classes(causal):
        return Kind.VISION_LANGUAGE
    # Encoders have a class that writes too; one saved without its head writes nothing.
    if architectures & _classes(causal) or (config.model_type in causal and not architectures):
        return Kind.TEXT
    raise InputError(
        "a model of a kind that is not run here", where=name,
        expected="one that writes about pictures (AutoModelForImageTextToText), writes texts (AutoModelForCausalLM),"
        " or embeds pictures and texts as CLIP does",
        got=", ".join(sorted(architectures)) or config.model_type,
    )  # fmt: skip


def _classes(mapping: Any) -> set[str]:
    return {each for value in mapping.values() for each in ([value] if isinstance(value, str) else value)}


def _digest(folder: Path) -> str:
    """One digest over name and bytes of every file that a model is made of."""
    digester = Digester([FAST])
    for path in sorted(each for each in folder.iterdir() if each.is_file() and not each.name.startswith(".")):
        digester.update(path.name.encode() + b"\0")
        with path.open("rb") as stream:
            while piece := stream.read(_CHUNK):
                digester.update(piece)
    return f"{FAST}:{digester.digests()[FAST]}"


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:300] if lines else type(error).__name__


@contextmanager
def _quiet(transformers: Any) -> Iterator[None]:
    """Without the library's own bars and advice, which are for those who write programs with it."""
    logging = transformers.utils.logging
    before, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(before)
        if bars:
            logging.enable_progress_bar()
