"""Tiny models with random weights, saved as the real ones are: a dual encoder, a vision-language model, a judge."""

from __future__ import annotations

from pathlib import Path
from typing import Any

_TEXTS = [
    "Yes yes YES No no NO Does this picture show it? Answer with Yes or No.",
    "예 아니오 네 아니요 이 그림이 다음 문장의 낱말에 맞나요? 예 또는 아니오로만 답하세요.",
    "배가 아파요 눈이 와요 다리를 건너요 최종 점수: 10점 만점에 7점 <score>1.5/2</score>",
    *(str(number) for number in range(101)),
]
_CHAT = (
    "{% for message in messages %}{{ message['role'] }}: "
    "{% if message['content'] is string %}{{ message['content'] }}{% else %}"
    "{% for part in message['content'] %}{% if part['type'] == 'image' %}<image>{% else %}{{ part['text'] }}{% endif %}"
    "{% endfor %}{% endif %}\n{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}"
)
SIDE = 28


def tokenizer(texts: list[str] | None = None) -> Any:
    """Byte-level BPE, trained on a few lines: any text can be written in it."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    special = ["<pad>", "<s>", "</s>", "<image>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=700, special_tokens=special, initial_alphabet=alphabet, min_frequency=1)
    made.train_from_iterator(_TEXTS if texts is None else texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<pad>", bos_token="<s>", eos_token="</s>", chat_template=_CHAT,
        additional_special_tokens=["<image>"], model_max_length=512,
    )  # fmt: skip


def _seeded(make: Any, seed: int) -> Any:
    import torch

    torch.manual_seed(seed)
    return make().eval()


def clip(folder: Path, seed: int = 1) -> Path:
    """A CLIP of 32 dimensions."""
    from transformers import CLIPConfig, CLIPImageProcessor, CLIPModel, CLIPProcessor

    words = tokenizer()
    small = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    text = {
        **small,
        "vocab_size": len(words),
        "max_position_embeddings": 77,
        "eos_token_id": 2,
        "bos_token_id": 1,
        "pad_token_id": 0,
    }
    config = CLIPConfig(
        text_config=text, vision_config={**small, "image_size": SIDE, "patch_size": 7}, projection_dim=32
    )
    _seeded(lambda: CLIPModel(config), seed).save_pretrained(folder)
    CLIPProcessor(_pictures(CLIPImageProcessor), words).save_pretrained(folder)
    return folder


def vision_language(folder: Path, seed: int = 2, texts: list[str] | None = None) -> Path:
    """A LLaVA of two layers."""
    from transformers import (
        CLIPImageProcessor,
        CLIPVisionConfig,
        LlamaConfig,
        LlavaConfig,
        LlavaForConditionalGeneration,
        LlavaProcessor,
    )

    words = tokenizer(texts)
    small = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = LlavaConfig(
        vision_config=CLIPVisionConfig(**small, image_size=SIDE, patch_size=7),
        text_config=LlamaConfig(**small, **_words(words), max_position_embeddings=2048, initializer_range=0.4),
        image_token_index=words.convert_tokens_to_ids("<image>"), vision_feature_layer=-1,
        vision_feature_select_strategy="default",
    )  # fmt: skip
    _seeded(lambda: LlavaForConditionalGeneration(config), seed).save_pretrained(folder)
    LlavaProcessor(
        image_processor=_pictures(CLIPImageProcessor), tokenizer=words, patch_size=7, image_token="<image>",
        vision_feature_select_strategy="default", num_additional_image_tokens=1, chat_template=_CHAT,
    ).save_pretrained(folder)  # fmt: skip
    return folder


def causal(folder: Path, seed: int = 3) -> Path:
    """A Llama of two layers that reads texts only."""
    from transformers import LlamaConfig, LlamaForCausalLM

    words = tokenizer()
    small = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = LlamaConfig(**small, **_words(words), max_position_embeddings=2048, initializer_range=0.4)
    _seeded(lambda: LlamaForCausalLM(config), seed).save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


def _words(words: Any) -> dict[str, int]:
    return {"vocab_size": len(words), "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}


def _pictures(kind: Any) -> Any:
    return kind(size={"shortest_edge": SIDE}, crop_size={"height": SIDE, "width": SIDE})
