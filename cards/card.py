"""README.md of a built folder: its front matter, and a body in English, for Korean sets in Korean too."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from hannun.builders.folder import SAMPLE
from hannun.builders.head import front_matter, readme
from hannun.builders.layout import IMAGE_IDS, IMAGES
from hannun.cards.facts import CardFacts
from hannun.cards.page import plain, render_markdown
from hannun.cards.rights import image_right
from hannun.reconstruct.recipes import completed_options, recipe_module
from hannun.schemas import catalogue, json_schema
from hannun.schemas.instance import Instance
from hannun.schemas.licence import Licence
from hannun.schemas.lock import LockEntry
from hannun.schemas.row import Row
from hannun.schemas.version import version

_NAMED_AUTHORS = 3
"""Attributions under one licence that the card itself writes out."""

_TEXT = 160
"""Characters of a sample row's text that the card shows."""

_FIRST_ROW = {
    "instances.jsonl": 'first_row = [pictures[place[each["image_id"]]]["image"] for each in rows[0]["candidates"]]',
    "rows.jsonl": 'first_row = [pictures[place[image_id]]["image"] for image_id in rows[0]["image_ids"]]',
}
"""How a row's pictures are found where rows name them by id, by the name of the file of rows."""

_IMAGES_CONFIG = {
    "en": "Every picture once; the other configs name them by `image_id`.",
    "ko": "그림을 한 장씩 담은 구성. 다른 구성은 `image_id`로 그림을 가리킵니다.",
}
_NAMES = "ids of the row's pictures, in order; the config `images` has them"


def card(facts: CardFacts, kept: Mapping[str, Any] | None = None, own_text: str = "") -> str:
    """README.md as it is due.

    Parameters
    ----------
    kept
        Keys of the front matter that are the owner's, and stay.
    own_text
        The owner's text below the generated body.
    """
    head = {**front_matter(facts.benchmark, facts.tables, facts.lock), **(kept or {})}
    return readme(head, body(facts) + own_text)


def body(facts: CardFacts) -> str:
    """Markdown below the front matter."""
    benchmark, recipe = facts.benchmark, facts.recipe
    first, splits = next(iter(facts.tables.sizes.items()))
    entry = benchmark.card
    return render_markdown(
        "card.md",
        h="###" if "ko" in entry.wordings else "##",
        name=benchmark.name,
        title=benchmark.title,
        summary=benchmark.summary,
        published=benchmark.published,
        korean=entry.wordings.get("ko"),
        en=entry.wordings["en"],
        first={"config": first, "split": list(splits)[-1]},
        first_row=_FIRST_ROW[benchmark.rows_file],
        pictures_apart=IMAGES in facts.tables.sizes,
        missing_pictures=_missing(facts),
        sample=[_sample_row(row) for row in facts.sample.rows],
        sample_targets=all(isinstance(row, Instance) for row in facts.sample.rows),
        sample_file=SAMPLE,
        credits=facts.sample.credits,
        why_no_sample=facts.sample.why_not,
        splits=_splits(facts),
        fields=_fields(facts),
        images=f"{len(facts.lock):,}",
        rows_file=benchmark.rows_file,
        recipe=recipe,
        planned=f"{recipe['counts']['rows']:,}",
        built=f"{facts.rows:,}",
        substitutions={what: f"{count:,}" for what, count in facts.substitutions.items()},
        sources=[_source(benchmark, each) for each in recipe["sources"]],
        rebuild_code=_rebuild_code(facts),
        by_hand=[each for each in benchmark.sources.values() if each.by_hand and each.kind == "person"],
        rights=recipe.get("rights"),
        texts=[_text_licence(name, each) for name, each in benchmark.text_licences.items()],
        licences=_image_licences(benchmark, facts.lock),
        results=benchmark.results,
        baselines=sorted((recipe.get("baselines") or {}).items(), key=lambda each: each[1]),
        facts=benchmark.facts,
        id_field=_id_field(facts),
        homepage=benchmark.homepage,
        citation=benchmark.citation.strip(),
        software=software_citation(),
    )


def software_citation() -> str:
    """How to cite this project, as CITATION.cff says it, in BibTeX."""
    return "\n".join(
        [
            "@software{hannun,",
            "  title   = {hannun: load, rebuild, check and score vision-language benchmarks},",
            "  author  = {{The hannun developers}},",
            "  year    = {2026},",
            f"  version = {{{version()}}},",
            "  license = {Apache-2.0}",
            "}",
        ]
    )


def _missing(facts: CardFacts) -> str | None:
    """How many of the pictures that an uploaded copy's rows name it does not have; None where all are there."""
    rights = facts.recipe.get("rights") or {"withheld": []}
    count = sum(each["count"] for each in rights["withheld"] if "count" in each)
    return f"{count:,}" if count else None


def _sample_row(row: Row) -> dict[str, Any]:
    if isinstance(row, Instance):
        return {"id": row.id, "text": _short(row.context), "target": row.target}
    asked = next(
        (value for name, value in row.record.items() if name.startswith("question") and name != "question_idx")
    )
    return {"id": row.id, "text": _short(str(asked)), "target": ""}


def _short(text: str) -> str:
    return text if len(text) <= _TEXT else text[: _TEXT - 1] + "…"


def _splits(facts: CardFacts) -> list[dict[str, str]]:
    english = {config.name: config.description for config in facts.benchmark.configs}
    korean = facts.benchmark.card.wordings.get("ko")
    described = {
        "en": {**english, IMAGES: _IMAGES_CONFIG["en"]},
        "ko": {**english, **(korean.configs if korean else {}), IMAGES: _IMAGES_CONFIG["ko"]},
    }
    return [
        {
            "config": config,
            "split": split,
            "rows": f"{size.rows:,}",
            "bytes": f"{size.bytes:,}",
            **{language: texts.get(config, "") for language, texts in described.items()},
        }
        for config, splits in facts.tables.sizes.items()
        for split, size in splits.items()
    ]


def _fields(facts: CardFacts) -> list[dict[str, str]]:
    """Columns of all configs, each once, with their types and what the record schemas say of them."""
    records = {config.name: config.record or facts.benchmark.record for config in facts.benchmark.configs}
    korean = facts.benchmark.card.wordings.get("ko")
    found: dict[str, dict[str, str]] = {}
    for config, features in facts.tables.features.items():
        schema = json_schema.merged_properties("image" if config == IMAGES else records[config])
        for name, feature in features.items():
            meaning = _NAMES if name == IMAGE_IDS else schema.get(name, {}).get("description", "")
            found.setdefault(
                name,
                {
                    "name": name,
                    "type": _type(feature),
                    "en": meaning,
                    "ko": (korean.fields if korean else {}).get(name, meaning),
                },
            )
    return list(found.values())


def _type(feature: Any) -> str:
    if isinstance(feature, list):
        return f"list of {_type(feature[0])}"
    if feature.get("_type") == "Image":
        return "image"
    if feature.get("_type") == "Value":
        return str(feature["dtype"])
    return "{" + ", ".join(f"{name}: {_type(inner)}" for name, inner in feature.items()) + "}"


def _source(benchmark: catalogue.Benchmark, source: Mapping[str, Any]) -> dict[str, str]:
    # Where a user may give several files of a source, they are numbered.
    entry = benchmark.sources.get(source["name"].partition(".")[0])
    return {
        "name": source["name"],
        "description": entry.description if entry else "",
        "revision": source.get("revision") or (entry.revision if entry else None) or "",
        "digest": source["digest"],
    }


def _rebuild_code(facts: CardFacts) -> str:
    """The commands that make this folder again."""
    recipe = facts.recipe
    defaults = completed_options(recipe_module(facts.benchmark.recipe), {})
    options = {**recipe["options"], "seed": recipe["seed"]}
    words = [facts.benchmark.name]
    words += [f"--set {key}={value}" for key, value in sorted(options.items()) if defaults.get(key) != value]
    hub = {entry.name for entry in facts.benchmark.sources.values() if entry.kind == "hub"}
    words += [
        f"--revision {each['revision']}" for each in recipe["sources"] if each["name"] in hub and "revision" in each
    ]
    words += [f"--source {entry.name}=FILE" for entry in facts.benchmark.sources.values() if entry.kind == "person"]
    words += ["--layout by-id"] if IMAGES in facts.tables.sizes and "rights" not in recipe else []
    words += [f"--out {facts.benchmark.name}"]
    needs = facts.benchmark.needs
    package = f"'hannun[{','.join(needs)}]'" if needs else "hannun"
    return f"```sh\npip install {package}\nhannun build {' '.join(words)}\n```"


def _text_licence(name: str, licence: Licence) -> dict[str, str | None]:
    return {
        "name": name,
        "licence": _link(licence.name, licence.url),
        "holder": licence.holder,
        "attribution": licence.attribution,
    }


def _image_licences(benchmark: catalogue.Benchmark, lock: Iterable[LockEntry]) -> list[dict[str, str]]:
    """Licences of the images, the commonest first: how many are under each, and whom to name.

    Where a licence has many authors, images.lock.jsonl names them.
    """
    authors: dict[tuple[str, str], Counter[str | None]] = defaultdict(Counter)
    for entry in lock:
        licence = entry.licence or {}
        named = _link(licence.get("name") or licence.get("spdx") or "not known", licence.get("url"))
        authors[named, image_right(benchmark, entry).redistribution.value][entry.attribution] += 1
    total = sum(named.total() for named in authors.values())
    return [
        {
            "licence": licence,
            "count": f"{named.total():,}",
            "share": f"{named.total() / total:.1%}",
            "right": right,
            "named": _whom(named),
        }
        for (licence, right), named in sorted(authors.items(), key=lambda each: (-each[1].total(), each[0]))
    ]


def _whom(named: Counter[str | None]) -> str:
    known = [attribution for attribution in named if attribution]
    if len(known) > _NAMED_AUTHORS:
        return "see images.lock.jsonl"
    return "; ".join(sorted(known)) or "not known"


def _link(name: str, url: str | None) -> str:
    return f"[{plain(name)}]({quote(url, safe=':/?#@!$&*+,;=%~-._')})" if url else plain(name)


def _id_field(facts: CardFacts) -> str:
    columns = next(iter(facts.tables.features.values()))
    return next(name for name in ("id", "question_idx", "index") if name in columns)
