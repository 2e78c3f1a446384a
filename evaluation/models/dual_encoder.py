"""Dual encoders, CLIP and its like: cosine similarity of a text and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hannun.evaluation.models.loading import Loaded, memory_named
from hannun.evaluation.shown_picture import shown


class DualEncoder:
    """Embeds texts and pictures; pictures that come again are not embedded again.

    Parameters
    ----------
    batch_size
        Pictures at a time.
    side
        Pixels of a picture's longer side, at most, before the model's own preparation.
    """

    def __init__(self, loaded: Loaded, *, batch_size: int, side: int) -> None:
        self._loaded, self._batch_size, self._side = loaded, batch_size, side
        # Single precision on the CPU: some 3 kB a picture, so that all of SAGE's fit.
        self._embedded: dict[str, Any] = {}

    def similarities(self, text: str, pictures: Sequence[tuple[str, bytes]]) -> list[float]:
        """Cosine similarity of the text and each picture, from -1 to 1.

        Parameters
        ----------
        pictures
            Image id and bytes.

        Raises
        ------
        PictureError
            Nothing of a picture can be seen.
        """
        import torch

        with torch.inference_mode(), memory_named():
            new = [(image_id, data) for image_id, data in dict(pictures).items() if image_id not in self._embedded]
            for start in range(0, len(new), self._batch_size):
                batch = new[start : start + self._batch_size]
                vectors = self._pictures([shown(data, self._side) for _, data in batch])
                self._embedded.update(zip((image_id for image_id, _ in batch), vectors, strict=True))
            of_pictures = torch.stack([self._embedded[image_id] for image_id, _ in pictures])
            similarities: list[float] = (of_pictures @ self._text(text)).tolist()
        return similarities

    def _pictures(self, images: Sequence[Any]) -> Any:
        inputs = self._loaded.processor.image_processor(images=list(images), return_tensors="pt")
        model = self._loaded.model
        return _normalised(model.get_image_features(**self._moved(inputs)))

    def _text(self, text: str) -> Any:
        model, tokenizer = self._loaded.model, self._loaded.processor.tokenizer
        # SigLIP was trained on texts padded to the full length, and CLIP's mask hides the padding.
        inputs = tokenizer(
            [text], padding="max_length", truncation=True, max_length=self._most_tokens, return_tensors="pt"
        )
        return _normalised(model.get_text_features(**self._moved(inputs)))[0]

    @property
    def _most_tokens(self) -> int:
        limit: int = self._loaded.processor.tokenizer.model_max_length
        text_config = getattr(self._loaded.model.config, "text_config", None)
        return min(limit, getattr(text_config, "max_position_embeddings", limit))

    def _moved(self, inputs: Any) -> dict[str, Any]:
        """On the model's device, numbers in the model's precision."""
        import torch

        place = self._loaded.place
        moved = {name: value.to(place.device) for name, value in inputs.items()}
        dtype = getattr(torch, place.dtype)
        return {name: value.to(dtype) if value.is_floating_point() else value for name, value in moved.items()}


def _normalised(features: Any) -> Any:
    """Rows of length one, in single precision on the CPU."""
    import torch

    # transformers 5 gives an output that holds them.
    vectors = features if isinstance(features, torch.Tensor) else features.pooler_output
    return torch.nn.functional.normalize(vectors.float(), dim=-1).cpu()
