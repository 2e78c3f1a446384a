"""SAGE's verbs: small files in the true layout with every known quirk, and the real ones where they are at hand."""

from __future__ import annotations

import io
import json
import os
import random
import re
import zipfile
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hannun.reconstruct.recipes.sage_verse import context_of, plan
from hannun.reconstruct.recipes.verb_forms import TABLE, reviewed
from hannun.reconstruct.recipes.verse_coco import Caption, read_coco
from hannun.reconstruct.recipes.verse_tables import read_annotations, read_glosses
from hannun.reconstruct.source import Source, open_sources
from hannun.schemas import catalogue, json_schema
from hannun.schemas.digest import digests_of
from hannun.schemas.errors import InputError
from hannun.schemas.instance import Instance
from hannun.schemas.invariants import set_violations, violations
from hannun.schemas.plan import Planned
from loopback import Answer, serving

CONFIGS = ("original", "spis", "spis-neutralized")
OPTIONS = {
    "seed": 1,
    "verse.annotations": "3.5k",
    "verse.images": "train2014+val2014",
    "verse.placeholder": "[VERB]",
}
REAL = Path(__file__).parents[2] / "shared" / "data"
HEADER = "lemma,image,sense_chosen,COCO/TUHOI"

Row = tuple[str, str, str, str]


def coco_name(number: int, folder: str = "val2014") -> str:
    return f"COCO_{folder}_{number:012d}.jpg"


def verse_rows() -> list[Row]:
    """Verbs of several senses, of one image a sense, 7.2 beside 7.20, images of two verbs and of two senses."""
    rows = []

    def add(lemma: str, sense: str, *numbers: int, folder: str = "val2014") -> None:
        rows.extend((lemma, coco_name(number, folder), sense, "COCO") for number in numbers)

    add("ride", "1", 101, 102, 103, 104)
    add("ride", "2", 111, 112, 113)
    add("ride", "2", 104)  # two senses of one verb
    add("fly", "1", 121)
    add("fly", "2", 122)
    add("play", "7.2", 131, 132)
    add("play", "7.20", 133, 134)
    add("play", "-1", 135)
    add("hold", "1", 101, 102)  # two verbs of one image
    add("hold", "3", *range(141, 153))
    add("hold", "3", 160, folder="train2014")
    add("hold", "3", 161)  # no caption
    add("hold", "3", 162)  # no form of the verb
    rows.append(("hold", "ILSVRC2013_val_00002922.JPEG", "1", "TUHOI"))
    rows.append(("play", "ILSVRC2012_val_00043837.JPEG", "-1", "TUHOI"))
    rows.append(rows[0])
    return rows


def annotations(rows: list[Row], end: str = "\r\n") -> bytes:
    return end.join([HEADER, *(",".join(row) for row in rows), ""]).encode()


def senses() -> bytes:
    """Tab-separated, records ended by CRLF, quoted cells with LF inside, a row twice."""
    lines = ["lemma\tsense_num\tdefinition\tontonotes_sense_examples\tvisualness_label"]
    for lemma, sense in (("ride", "1"), ("ride", "2"), ("play", "7.2"), ("play", "7.20"), ("hold", "3"), ("hold", "3")):
        lines.append(f'{lemma}\t{sense}\t"{lemma} in sense\n{sense}"\t"An example.\nAnother ""one""."\t1.0')
    return ("\r\n".join(lines) + "\r\n").encode()


PAST = {"ride": "riding", "fly": "flying", "play": "playing", "hold": "holding"}


def captions(rows: list[Row], others: int = 40) -> dict[str, Any]:
    """Captions of every image of the rows but two, and of others: some of these hold a form of a verb."""
    verbs: dict[str, list[str]] = {}
    for lemma, image, _, collection in rows:
        if collection == "COCO" and lemma not in verbs.setdefault(image, []):
            verbs[image].append(lemma)
    images, texts = [], []
    for name, lemmas in verbs.items():
        number = int(name[-16:-4])
        images.append({"id": number, "file_name": name, "license": 1 + number % 8})
        if number == 161:
            continue
        if number == 162:
            texts.append((number, "A ball at rest."))
            continue
        texts += [(number, f"Thing number {number} seen from afar.")]
        texts += [(number, f"Somebody {PAST[v]} number {number}, view {at}. \n") for at, v in enumerate(lemmas)]
    for number in range(900, 900 + others):
        word = ("rides", "flies", "playing", "HELD")[number % 4] if number < 920 else "sees"
        images.append({"id": number, "file_name": coco_name(number), "license": None})
        texts.append((number, f"A player {word} thing {number}."))
    return {
        "images": images,
        "annotations": [
            {"id": 5000 + place, "image_id": number, "caption": text} for place, (number, text) in enumerate(texts)
        ],
    }


def source(name: str, data: bytes | dict[str, Any]) -> Source:
    return Source(name, f"{name}.file", data if isinstance(data, bytes) else json.dumps(data).encode())


def files(rows: list[Row] | None = None, documents: list[dict[str, Any]] | None = None) -> dict[str, Source]:
    rows = verse_rows() if rows is None else rows
    given = {
        "verse-annotations": source("verse-annotations", annotations(rows)),
        "verse-senses": source("verse-senses", senses()),
        "verb-forms": source("verb-forms", TABLE.read_bytes()),
    }
    for place, document in enumerate(documents or [captions(rows)], 1):
        key = "coco-captions" if place == 1 else f"coco-captions.{place}"
        given[key] = source(key, document)
    return given


def planned(config: str = "spis", sources: dict[str, Source] | None = None, **options: str | int) -> Planned:
    named = {key.replace("_", "."): value for key, value in options.items()}
    return plan(catalogue.benchmark(f"sage-verse-{config}"), sources or files(), {**OPTIONS, **named})


def by_item(result: Planned) -> dict[str, Instance]:
    return {row.id.rpartition("/")[2]: row for row in result.rows}


def test_every_row_is_an_instance_or_is_listed_with_its_reason() -> None:
    result = planned()
    assert len(result.rows) + len(result.dropped) == len(verse_rows())
    reasons: dict[str, list[str]] = {}
    for drop in result.dropped:
        reasons.setdefault(drop.reason, []).append(drop.item)
    assert reasons == {
        "repeats another row": ["ride-101"],
        "TUHOI: its images have neither public addresses nor captions": [
            "hold-ILSVRC2013_val_00002922.JPEG",
            "play-ILSVRC2012_val_00043837.JPEG",
        ],
        "sense -1: no sense of the verb applies": ["play-135"],
        "no caption of the image is given": ["hold-161"],
        "no caption holds a form of the verb": ["hold-162"],
        "no other image shows the verb's sense": ["fly-121", "fly-122"],
        "its context, or what masking leaves of it, is that of another row": ["ride-104-2"],
    }
    expected = {f"ride-{n}" for n in (101, 102, 103, 111, 112, 113)} | {"ride-104-1"}
    expected |= {f"play-{n}" for n in (131, 132, 133, 134)} | {f"hold-{n}" for n in (101, 102, *range(141, 153), 160)}
    assert set(by_item(result)) == expected


def test_candidates_are_what_their_kind_says() -> None:
    rows = verse_rows()
    document = captions(rows)
    texts: dict[int, str] = {}
    for each in document["annotations"]:
        texts[each["image_id"]] = texts.get(each["image_id"], "") + each["caption"]
    of = {
        (lemma, f"coco:{image[5:-17]}/{image[-16:-4]}"): {s for v, i, s, _ in rows if (v, i) == (lemma, image)}
        for lemma, image, _, collection in rows
        if collection == "COCO"
    }
    forms = {"ride": "rid", "play": "play(?!er)", "hold": "h[oe]ld"}
    result = planned()
    for row in result.rows:
        lemma, sense, paired = (row.source[key] for key in ("lemma", "sense", "image"))
        kinds = Counter(c.kind for c in row.candidates)
        assert kinds["gold"] == 1
        assert kinds["hard"] + kinds["random"] == 9
        for candidate in (*row.candidates, *row.spares):
            senses_of = of.get((lemma, candidate.image_id), set())
            assert candidate.image_id != paired
            if candidate.kind == "gold":
                assert sense in senses_of
            elif candidate.kind == "hard":
                assert senses_of - {sense, "-1"}
                assert sense not in senses_of
            else:
                assert not senses_of
                assert not re.search(forms[lemma], texts[int(candidate.image_id[-12:])], re.IGNORECASE)
    items = by_item(result)
    assert {c.image_id[-3:] for c in items["play-131"].candidates if c.kind == "hard"} == {"133", "134"}
    assert items["play-131"].source["gloss"] == "play in sense 7.2"
    assert items["play-133"].source["gloss"] == "play in sense 7.20"
    # 104 shows both senses of ride: it is a hard negative for neither.
    assert {c.image_id[-3:] for c in items["ride-101"].candidates if c.kind == "hard"} == {"111", "112", "113"}
    assert {c.image_id[-3:] for c in items["ride-111"].candidates if c.kind == "hard"} == {"101", "102", "103"}
    assert Counter(c.kind for c in items["hold-101"].candidates) == {"gold": 1, "hard": 9}
    assert Counter(c.kind for c in items["hold-101"].spares) == {"hard": 2, "random": 4}


def test_the_configs_share_all_but_gold_and_wording() -> None:
    original, spis, masked = (by_item(planned(config)) for config in CONFIGS)
    assert set(original) == set(spis) == set(masked)
    for item, row in spis.items():
        for other in (original[item], masked[item]):
            assert other.label == row.label
            assert other.spares == row.spares
            assert [c for c in other.candidates if c.kind != "gold"] == [c for c in row.candidates if c.kind != "gold"]
        assert original[item].gold == row.source["image"] != row.gold
        assert masked[item].gold == row.gold
        assert original[item].context == row.context
        word = PAST[row.source["lemma"]]
        assert row.target == row.context[slice(*row.target_span)] == word
        assert masked[item].target == "[VERB]"
        assert masked[item].context == row.context.replace(word, "[VERB]")
        assert masked[item].source["neutralization"]
        assert row.source["neutralization"] is None


def test_plans_keep_the_invariants_and_the_record_schema() -> None:
    for config in CONFIGS:
        result = planned(config)
        rows = [row.to_json() for row in result.rows]
        assert [row["id"] for row in rows] == sorted(row["id"] for row in rows)
        assert all(row["id"].startswith(f"sage/verse-{config}/") for row in rows)
        assert [problem for row in rows for problem in json_schema.problems("sage", row)] == []
        assert [each for row in rows for each in violations(row)] + set_violations(rows) == []
        used = {c.image_id for row in result.rows for c in (*row.candidates, *row.spares)}
        # The picture that the caption describes is there too, to be shown apart.
        used |= {row.source["image"] for row in result.rows}
        assert [entry.image_id for entry in result.images] == sorted(used)
        assert [p for e in result.images for p in json_schema.problems("lock", e.to_json())] == []


def test_the_pool_of_images_is_the_stated_one() -> None:
    full, part = planned(), planned(verse_images="val2014")
    assert Counter(drop.reason for drop in part.dropped)["its image is not among verse.images"] == 1
    assert len(part.rows) + len(part.dropped) == len(verse_rows())
    assert any("train2014" in entry.image_id for entry in full.images)
    assert not any("train2014" in entry.image_id for entry in part.images)


def test_too_few_negatives_are_listed_and_never_filled_up() -> None:
    rows = [row for row in verse_rows() if row[0] == "ride"]
    short, enough = (planned(sources=files(rows, [captions(rows, others)])) for others in (5, 40))
    few = [drop.item for drop in short.dropped if drop.reason == "too few negatives"]
    assert set(few) == set(by_item(enough)) | {"ride-104-2"}
    assert not short.rows
    assert len(few) + 1 == len(rows)


def test_one_vanished_image_moves_one_negative() -> None:
    rows = verse_rows()
    document = captions(rows)
    before = by_item(planned())
    gone = next(c.image_id for c in before["ride-101"].candidates if c.kind == "random")
    number = int(gone[-12:])
    document["images"] = [each for each in document["images"] if each["id"] != number]
    document["annotations"] = [each for each in document["annotations"] if each["image_id"] != number]
    after = by_item(planned(sources=files(rows, [document])))
    assert set(after) == set(before)
    moved = 0
    for item, row in before.items():
        lost = {c.image_id for c in row.candidates} - {c.image_id for c in after[item].candidates}
        assert lost <= {gone}
        moved += len(lost)
        assert after[item].gold == row.gold
    assert moved


def test_another_seed_gives_another_choice() -> None:
    assert planned(seed=2).rows != planned().rows
    assert [row.id for row in planned(seed=2).rows] == [row.id for row in planned().rows]


def test_nothing_depends_on_the_order_of_lines_or_files() -> None:
    rows = verse_rows()
    document = captions(rows)
    expected = planned(sources=files(rows, [document]))
    rng = random.Random(3)
    for _ in range(3):
        for each in (rows, document["images"], document["annotations"]):
            rng.shuffle(each)
        half = len(document["images"]) // 2
        parts = []
        for images in (document["images"][half:], document["images"][:half]):
            numbers = {image["id"] for image in images}
            parts.append(
                {"images": images, "annotations": [a for a in document["annotations"] if a["image_id"] in numbers]}
            )
        assert planned(sources=files(rows, parts)) == expected
        lf = {**files(rows, parts), "verse-annotations": source("verse-annotations", annotations(rows, "\n"))}
        assert planned(sources=lf) == expected


def test_plans_of_other_hash_seeds_are_byte_identical(run: Callable[..., Any], tmp_path: Path) -> None:
    arguments = []
    for key, each in files().items():
        (tmp_path / key).write_bytes(each.data)
        arguments += ["--source", f"{key}={tmp_path / key}"]
    plans = []
    for seed in ("0", "1", "77"):
        out = tmp_path / seed
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = run("sage-reconstruct", "plan", "sage-verse-spis", *arguments, "--out", out, env=environment)
        assert done.returncode == 0, done.stderr
        plans.append({path.name: path.read_bytes() for path in out.iterdir()})
    assert plans[0] == plans[1] == plans[2]


@pytest.mark.parametrize(
    ("texts", "lemma", "number", "rule"),
    [
        (["A cat.", "A man rides and rides.", "Riding a bike."], "ride", 2, "one form"),
        (["A cat.", "A man rides and rides.", "Still riding, he rides."], "ride", 1, "several forms"),
        (["The player pitches.", "PLAYING a game"], "play", 1, "one form"),
        (["A displayed player."], "play", None, None),
    ],
)
def test_the_first_caption_with_one_form_is_the_context(
    texts: list[str], lemma: str, number: int | None, rule: str | None
) -> None:
    found = context_of([Caption(place, text) for place, text in enumerate(texts)], lemma, reviewed())
    assert found == (None if number is None else (Caption(number, texts[number]), rule))


def image(number: int, name: str | None = None, **more: Any) -> dict[str, Any]:
    return {"id": number, "file_name": name or coco_name(number), **more}


def caption(number: int, image_id: int, text: str) -> dict[str, Any]:
    return {"id": number, "image_id": image_id, "caption": text}


def test_captions_of_several_files_come_together() -> None:
    url = "http://images.cocodataset.org/{}/{:012d}.jpg".format
    old = {
        "images": [image(1), image(2, coco_name(2, "train2014"), license=4)],
        "annotations": [caption(9, 1, "Same  text\n"), caption(3, 1, "Later"), caption(8, 1, "Same text")],
    }
    new = {
        "licenses": [{"id": 9, "name": "Ours", "url": "https://example.org/"}],
        "images": [
            image(1, "000000000001.jpg", license=9, coco_url=url("val2017", 1)),
            image(2, "000000000002.jpg", coco_url=url("train2017", 2)),
            image(3, "000000000003.jpg", coco_url=url("val2017", 3), license=7),
            image(4, "000000000004.jpg", coco_url=url("train2017", 4)),
            image(5, "000000000005.jpg"),
        ],
        "annotations": [caption(1, 1, " FIRST "), caption(2, 5, " ")],
    }
    for order in ((old, new), (new, old)):
        coco = read_coco([source("coco-captions", each) for each in order], [coco_name(6)])
        assert coco.captions[1] == [Caption(1, "FIRST"), Caption(3, "Later"), Caption(8, "Same text")]
        assert coco.captions[5] == []
        assert coco.folders == {1: "val2014", 2: "train2014", 3: "val2014", 4: "train2017", 6: "val2014"}
        licences = {number: coco.lock_entry(number).licence for number in coco.folders}
        assert licences == {
            1: {"spdx": None, "name": "Ours", "url": "https://example.org/"},
            2: {
                "spdx": "CC-BY-2.0",
                "name": "Attribution License",
                "url": "http://creativecommons.org/licenses/by/2.0/",
            },
            3: {"spdx": None, "name": "No known copyright restrictions", "url": "http://flickr.com/commons/usage/"},
            4: None,
            6: None,
        }
    assert coco.lock_entry(2).locations == (
        "https://s3.amazonaws.com/images.cocodataset.org/train2014/COCO_train2014_000000000002.jpg",
        "http://images.cocodataset.org/train2014/COCO_train2014_000000000002.jpg",
    )
    assert coco.lock_entry(4).locations[1] == url("train2017", 4)
    assert coco.lock_entry(2).image_id == "coco:train2014/000000000002"
    assert coco.lock_entry(2).attribution is None


def zipped(members: dict[str, bytes]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return held.getvalue()


def test_the_official_zip_is_read() -> None:
    document = captions(verse_rows())
    data = json.dumps(document).encode()
    packed = zipped({"annotations/instances_val2014.json": b"no", "annotations/captions_val2014.json": data})
    given = {**files(), "coco-captions": Source("coco-captions", "c.zip", packed)}
    assert planned(sources=given) == planned()
    cut = Source("coco-captions", "c.zip", packed[:-30])
    with pytest.raises(InputError, match="cut or damaged"):
        read_coco([cut], [])
    with pytest.raises(InputError, match="without captions"):
        read_coco([Source("coco-captions", "c.zip", zipped({"a/instances_x.json": data}))], [])


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ([], "no captions of COCO"),
        ({"images": []}, "no captions of COCO"),
        ({"images": [{"id": "1"}], "annotations": []}, "images: entry 0 lacks id"),
        ({"images": [image(1)], "annotations": [{"id": 1, "image_id": 1}]}, "annotations: entry 0 lacks caption"),
        ({"images": [image(1)], "annotations": [caption(1, 2, "x")]}, "does not list"),
        ({"images": [image(1), image(1, coco_name(1, "train2014"))], "annotations": []}, "two folders"),
        ({"images": [image(1, license=1), image(1, license=2)], "annotations": []}, "two licences"),
        ({"images": [image(1, license=9)], "annotations": []}, "unknown licence"),
        ({"images": [image(1, license=[1])], "annotations": []}, "unknown licence"),
        ({"images": [], "annotations": [], "licenses": [{"id": 1}]}, "not a licence"),
        ({"images": [], "annotations": [], "licenses": 7}, "not a licence"),
    ],
)
def test_captions_that_are_none_are_refused(document: Any, says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        read_coco([Source("coco-captions", "here.json", json.dumps(document).encode())], [])
    assert caught.value.where == "here.json"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("lemma,image\nride,x\n", "missing column"),
        (f"{HEADER}\nride,{coco_name(1)},,COCO\n", "an empty cell"),
        (f"{HEADER}\nride,{coco_name(1)},1,FLICKR\n", "unknown collection"),
        (f"{HEADER}\nride,{coco_name(1)},1\n", "another number of cells"),
    ],
)
def test_annotations_that_are_none_are_refused(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        read_annotations(source("verse-annotations", text.encode()))


def test_contradictions_and_foreign_names_are_refused() -> None:
    with pytest.raises(InputError, match="name of a COCO image"):
        planned(sources=files([("ride", "picture.jpg", "1", "COCO")], [captions([])]))
    table = b"lemma\tsense_num\tdefinition\nride\t1\tone\nride\t1\tanother\n"
    with pytest.raises(InputError, match="two definitions of ride 1"):
        read_glosses(source("verse-senses", table))


def test_the_file_of_the_other_option_is_refused() -> None:
    benchmark = catalogue.benchmark("sage-verse-spis")
    given = files()
    digest = "sha256:" + digests_of(given["verse-annotations"].data)["sha256"]
    entries = {
        key: replace(entry, digest=digest) if entry.options.get("verse.annotations") == "gold_all" else entry
        for key, entry in benchmark.sources.items()
    }
    benchmark = replace(benchmark, sources=entries)
    with pytest.raises(InputError, match=r"that of verse\.annotations=gold_all"):
        plan(benchmark, given, OPTIONS)
    assert plan(benchmark, given, {**OPTIONS, "verse.annotations": "gold_all"}).rows


def test_options_choose_between_sources_of_one_name() -> None:
    benchmark = catalogue.benchmark("sage-verse-spis")
    digests = {
        chosen: benchmark.sources_with({**OPTIONS, "verse.annotations": chosen})["verse-annotations"].digest
        for chosen in ("3.5k", "gold_all")
    }
    assert digests["3.5k"] != digests["gold_all"]
    assert set(benchmark.sources_with(OPTIONS)) == {"verse-annotations", "verse-senses", "verb-forms", "coco-captions"}


def test_only_a_source_of_many_files_may_be_given_more_than_once(run: Callable[..., Any], tmp_path: Path) -> None:
    rows = verse_rows()
    document = captions(rows)
    cut = 30
    for name, images in (("one", document["images"][:cut]), ("two", document["images"][cut:])):
        numbers = {each["id"] for each in images}
        part = {"images": images, "annotations": [a for a in document["annotations"] if a["image_id"] in numbers]}
        (tmp_path / name).write_text(json.dumps(part))
    (tmp_path / "verse-annotations").write_bytes(annotations(rows))
    (tmp_path / "verse-senses").write_bytes(senses())
    arguments = [f"{key}={tmp_path / key}" for key in ("verse-annotations", "verse-senses")]
    arguments += [f"coco-captions={tmp_path / name}" for name in ("one", "two")]
    given = [word for argument in arguments for word in ("--source", argument)]
    done = run("sage-reconstruct", "plan", "sage-verse-spis", *given, "--out", tmp_path / "plan")
    assert done.returncode == 0, done.stderr
    recipe = json.loads((tmp_path / "plan" / "recipe.json").read_text())
    assert {each["name"]: each["digest"] for each in recipe["sources"]} == {
        key: "sha256:" + digests_of((tmp_path / file).read_bytes())["sha256"]
        for key, file in (
            ("coco-captions", "one"),
            ("coco-captions.2", "two"),
            ("verse-annotations", "verse-annotations"),
            ("verse-senses", "verse-senses"),
        )
    } | {"verb-forms": "sha256:" + digests_of(TABLE.read_bytes())["sha256"]}
    lines = (tmp_path / "plan" / "instances.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line) for line in lines] == [json.loads(json.dumps(row.to_json())) for row in planned().rows]
    twice = run(
        "sage-reconstruct", "plan", "sage-verse-spis", *given, "--source", arguments[1], "--out", tmp_path / "no"
    )
    assert twice.returncode == 2
    assert "verse-senses is given twice" in twice.stderr
    entries = catalogue.benchmark("sage-verse-spis").sources_with(OPTIONS)
    paths = {key: tmp_path / key for key in ("verse-annotations", "verse-senses")}
    with pytest.raises(InputError, match=r"no source named 'verse-senses\.2'"):
        open_sources(entries, {**paths, "coco-captions": tmp_path / "one", "verse-senses.2": tmp_path / "two"})


def test_a_form_that_came_back_is_found_in_the_plan_folder(tmp_path: Path) -> None:
    from hannun.validate.target import validate

    from hannun.pipeline import PlanRequest, make_plan

    given = {}
    for key, each in files().items():
        given[key] = tmp_path / key
        given[key].write_bytes(each.data)
    plan_folder = tmp_path / "plan"
    make_plan(PlanRequest("sage-verse-spis-neutralized", given, {"verse.placeholder": "do"}), plan_folder)
    assert validate(str(plan_folder)).findings == []
    rows_file = plan_folder / "instances.jsonl"
    rows = [json.loads(line) for line in rows_file.read_text("utf-8").splitlines()]
    assert {row["target"] for row in rows} == {"doing"}
    rows[3]["context"] += f" And {PAST[rows[3]['source']['lemma']].upper()}."
    rows[5]["source"]["image"] = "coco:val2014/000000009999"
    rows_file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = {(each.rule.code, each.place.row_id) for each in validate(str(plan_folder)).findings}
    assert found == {("HN-SAGE-001", rows[3]["id"]), ("HN-IMG-004", rows[5]["id"])}


def test_captions_are_downloaded_where_they_can_be_and_explained_where_not(
    run: Callable[..., Any], tmp_path: Path
) -> None:
    for key in ("verse-annotations", "verse-senses"):
        (tmp_path / key).write_bytes(files()[key].data)
    given = [word for key in ("verse-annotations", "verse-senses") for word in ("--source", f"{key}={tmp_path / key}")]
    path = "/images.cocodataset.org/annotations/annotations_trainval2014.zip"
    with serving() as server:
        mirror = ["--mirror", f"s3.amazonaws.com={server.address}"]
        environment = {**os.environ, "HANNUN_HOME": str(tmp_path / "home")}
        arguments = ["plan", "sage-verse-spis", *given, *mirror, "--out", tmp_path / "plan"]
        for answer, says in ((Answer(status=404), "gone"), (Answer(b"another file"), "changed")):
            server.answer(path, answer)
            done = run("sage-reconstruct", *arguments, env=environment)
            assert done.returncode == 2
            said = done.stderr.replace("\n", "")
            for word in (
                "annotations_trainval2014.zip",
                "http://images.cocodataset.org/",
                "md5",
                "--source coco-captions=PATH",
                says,
            ):
                assert word in said
    assert not (tmp_path / "plan").exists()


def real_sources(annotations_file: str) -> dict[str, Source]:
    if not (REAL / "verse").is_dir():
        pytest.skip("shared/data/verse is not at hand")
    paths = {
        "verse-annotations": REAL / "verse" / annotations_file,
        "verse-senses": REAL / "verse" / "verse_visualness_labels.csv",
        "verb-forms": TABLE,
        "coco-captions": REAL / "derived" / "captions_verse_subset.json",
        "coco-captions.2": REAL / "coco" / "captions_val2017.json",
    }
    return {key: Source(key, str(path), path.read_bytes()) for key, path in paths.items()}


@pytest.mark.parametrize(
    ("chosen", "file", "total", "instances", "hard"),
    [
        ("3.5k", "3.5k_verse_gold_image_sense_annotations.csv", 3515, 446, 3.24),
        ("gold_all", "gold_all_final_lemma_image_sense_annotations.csv", 4460, 536, 4.39),
    ],
)
def test_the_real_files_give_what_is_known_of_them(
    chosen: str, file: str, total: int, instances: int, hard: float
) -> None:
    places = reviewed().places
    sources = real_sources(file)
    result = planned(sources=sources, verse_annotations=chosen)
    entry = catalogue.benchmark("sage-verse-spis").sources_with({**OPTIONS, "verse.annotations": chosen})
    assert sources["verse-annotations"].digest == entry["verse-annotations"].digest
    assert len(result.rows) == instances
    assert len(result.rows) + len(result.dropped) == total
    reasons = Counter(drop.reason for drop in result.dropped)
    assert reasons["TUHOI: its images have neither public addresses nor captions"] == 1188
    kinds = Counter(c.kind for row in result.rows for c in row.candidates)
    assert abs(kinds["hard"] / instances - hard) < 0.01
    assert all(row.source["gloss"] for row in result.rows)
    rows = read_annotations(sources["verse-annotations"])
    of = {(each.lemma, each.image[-16:-4], each.sense) for each in rows}
    coco = read_coco([sources["coco-captions"], sources["coco-captions.2"]], (each.image for each in rows))
    for row in result.rows:
        lemma, sense = row.source["lemma"], row.source["sense"]
        assert row.gold != row.source["image"]
        assert (lemma, row.gold[-12:], sense) in of
        for candidate in (*row.candidates, *row.spares):
            if candidate.kind == "gold":
                continue
            number = candidate.image_id[-12:]
            assert (lemma, number, sense) not in of
            if candidate.kind == "random":
                texts = [each.text for each in coco.captions[int(number)]]
                assert texts
                assert not any(places(text, lemma) for text in texts)
    original = by_item(planned("original", sources, verse_annotations=chosen))
    masked = by_item(planned("spis-neutralized", sources, verse_annotations=chosen))
    spis = by_item(result)
    assert set(original) == set(masked) == set(spis)
    for item, row in spis.items():
        assert original[item].gold == row.source["image"]
        assert masked[item].candidates == row.candidates
        assert not places(masked[item].context, row.source["lemma"])
        assert original[item].label == masked[item].label == row.label
    licences = Counter((entry.licence or {}).get("spdx") for entry in result.images)
    assert licences["CC-BY-2.0"] > 100
