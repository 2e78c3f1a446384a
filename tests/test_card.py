"""Cards: what they say of every benchmark, that the Hub's client and `datasets` take them, and what makes one stale."""

from __future__ import annotations

import json
import re
import shutil
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from builds import CONFIGS
from hannun.builders.head import Part, Stale
from hannun.cards.card import software_citation
from hannun.cards.card_file import OWN_TEXT, own_parts, stale_parts, write_card
from hannun.cards.facts import read_facts
from hannun.schemas import catalogue
from hub import card_problems

ROOT = Path(__file__).parents[1]
ENGLISH = (
    "Three rows", "Configs and splits", "Fields", "How it was made", "Sources", "How to rebuild it", "Licences",
    "Differences from the published set", "Published results and human agreement", "Limits", "Ethics",
    "How to report a bad item", "How to cite",
)  # fmt: skip
KOREAN = (
    "구성과 분할", "필드", "만든 방법", "다시 만들기", "라이선스", "공개된 데이터와의 차이", "한계", "윤리", "잘못된 문항 알리기",
)  # fmt: skip

each_build = pytest.mark.parametrize("name", CONFIGS)


def text_of(folder: Path) -> str:
    return (folder / "README.md").read_text("utf-8")


def head_of(folder: Path) -> dict[str, Any]:
    head: dict[str, Any] = yaml.safe_load(text_of(folder).split("---\n", 2)[1])
    return head


def headings(text: str) -> list[str]:
    return re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.MULTILINE)


@each_build
def test_the_hubs_client_takes_the_card(built_all: dict[str, Path], name: str) -> None:
    """Its own validation asks the Hub; here are its parser, that of `datasets`, and the rules that are published."""
    from datasets.utils.metadata import MetadataConfigs
    from huggingface_hub import DatasetCard, DatasetCardData

    text = text_of(built_all[name])
    assert card_problems(text) == []
    card = DatasetCard.load(built_all[name] / "README.md")
    assert isinstance(card.data, DatasetCardData)
    assert card.data.to_dict() == head_of(built_all[name])
    configs = MetadataConfigs.from_dataset_card_data(card.data)
    assert list(configs) == CONFIGS[name]
    assert configs.get_default_config_name() == CONFIGS[name][0]
    benchmark = catalogue.benchmark(json.loads((built_all[name] / "recipe.json").read_text())["benchmark"])
    assert card.data.language == list(benchmark.languages)
    assert {"task_categories", "size_categories", "pretty_name", "tags", "license"} <= set(card.data.to_dict())
    assert card.data.to_dict().get("arxiv", []) == list(benchmark.card.arxiv)


@each_build
def test_every_config_loads_with_the_counts_that_the_card_states(
    built_all: dict[str, Path], name: str, tmp_path: Path
) -> None:
    import datasets

    infos = {info["config_name"]: info for info in head_of(built_all[name])["dataset_info"]}
    assert list(infos) == CONFIGS[name]
    for config, info in infos.items():
        loaded = datasets.load_dataset(str(built_all[name]), config, cache_dir=str(tmp_path))
        assert {split: len(rows) for split, rows in loaded.items()} == {
            each["name"]: each["num_examples"] for each in info["splits"]
        }
        for split, rows in loaded.items():
            assert f"| {config} | {split} | {len(rows):,} |" in text_of(built_all[name])
            assert all(f"| `{column}` |" in text_of(built_all[name]) for column in rows.features)


@each_build
def test_a_new_card_is_up_to_date_and_says_everything(built_all: dict[str, Path], name: str) -> None:
    folder = built_all[name]
    facts = read_facts(folder)
    assert stale_parts(folder, facts) == []
    text = text_of(folder)
    assert unicodedata.is_normalized("NFC", text)
    said = headings(text)
    assert all(said.count(each) == 1 for each in ENGLISH), said
    is_korean = "ko" in facts.benchmark.languages
    assert all((said.count(each) == 1) == is_korean for each in ("한국어", "English", *KOREAN)), said
    for source in facts.recipe["sources"]:
        assert source["digest"] in text
    assert software_citation() in text
    assert facts.benchmark.citation.strip() in text
    for result in facts.benchmark.results:
        assert f"| {result['value']} | {result['where']} | {result['known']} |" in text
    shares = [
        float(share)
        for share in re.findall(r"^\| .* \| ([\d.]+)% \| (?:allowed|unknown|forbidden) \|", text, re.MULTILINE)
    ]
    assert sum(shares) == pytest.approx(100, abs=0.1 * len(shares))
    if facts.picture is None:
        assert not (folder / "sample.webp").exists()
        assert re.search(r"^No row is shown: .*licence.*\.$", text, re.MULTILINE)
    else:
        assert "![The pictures of the rows" in text
        assert len(facts.picture) < 100_000


def test_pictures_are_shown_only_where_licences_allow_it(built_all: dict[str, Path]) -> None:
    shown = {name: (folder / "sample.webp").exists() for name, folder in built_all.items()}
    assert {name for name, there in shown.items() if not there} >= {"koffvqa", "haerae-vision", "sage-vwsd"}
    assert {name for name, there in shown.items() if there} >= {"kona", "kona-by-id", "kona-noto", "sage"}
    facts = read_facts(built_all["sage"])
    licences = {entry.image_id: (entry.licence or {}).get("spdx") or "" for entry in facts.lock}
    for row in facts.sample.rows:
        assert all(licences[image_id].startswith("CC") and "-ND" not in licences[image_id] for image_id in row.shown)


def test_kona_says_what_it_is(built_all: dict[str, Path]) -> None:
    for name in ("kona", "kona-noto"):
        text = " ".join(text_of(built_all[name]).split())
        for words in (
            "Defined and written by this project", "no publication of that name was found", "language model's help",
            "not yet validated by annotators", "언어 모델의 도움을 받아 작성했으며, 아직 사람의 검증을 거치지 않았습니다",
            "같은 이름의 출판물은 찾지 못했습니다", "hannun export kona --for annotators",
        ):  # fmt: skip
            assert words in text


def test_how_to_rebuild_names_what_is_not_the_default(built_all: dict[str, Path]) -> None:
    commands = {
        name: re.search(r"^hannun build .*$", text_of(folder), re.MULTILINE)[0] for name, folder in built_all.items()
    }  # type: ignore[index]
    assert commands["kona"] == "hannun build kona --out kona"
    assert commands["kona-by-id"] == "hannun build kona --layout by-id --out kona"
    assert commands["kona-noto"] == "hannun build kona --set images=noto --out kona"
    assert commands["sage-verse-spis"] == "hannun build sage-verse-spis --out sage-verse-spis"
    assert "--source wikidiverse-candidates=FILE" in commands["sage"]


def test_the_citation_is_that_of_the_project() -> None:
    stated = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    cited = software_citation()
    for value in (stated["title"], stated["version"], stated["license"], str(stated["date-released"])[:4]):
        assert f"{{{value}}}" in cited
    assert all(each["name"] in cited for each in stated["authors"])


# Stale cards


def in_readme(pattern: str, new: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        text, count = re.subn(pattern, new, text_of(folder), count=1, flags=re.MULTILINE)
        assert count == 1
        (folder / "README.md").write_text(text, "utf-8")

    return change


def in_json(name: str, change_value: Callable[[Any], Any]) -> Callable[[Path], None]:
    """A change of every value in a file of JSON, or of JSON lines."""

    def change(folder: Path) -> None:
        lines = [json.loads(line) for line in (folder / name).read_text("utf-8").splitlines()]
        for value in lines:
            change_value(value)
        (folder / name).write_text("".join(json.dumps(value, ensure_ascii=False) + "\n" for value in lines), "utf-8")

    return change


def of(**values: Any) -> Callable[[Any], Any]:
    return lambda value: value.update(values)


def another_picture(folder: Path) -> None:
    from PIL import Image

    with Image.open(folder / "sample.webp") as picture:
        changed = picture.convert("RGB")
    changed.paste("black", (100, 10, 180, 80))
    changed.save(folder / "sample.webp", "WEBP")


def twice_as_many_rows(folder: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / "original-noto" / "test-00000-of-00001.parquet"
    table = pq.read_table(path)
    pq.write_table(pa.concat_tables([table, table]), path)


def rename_split(folder: Path) -> None:
    path = folder / "explicit-noto" / "test-00000-of-00001.parquet"
    path.rename(path.with_name("validation-00000-of-00001.parquet"))


STALE: list[tuple[str, Callable[[Path], Any], str]] = [
    ("rows in the card", in_readme(r"num_examples: 1$", "num_examples: 7"), "rows of original-noto/test"),
    ("rows in the tables", twice_as_many_rows, "rows of original-noto/test"),
    ("bytes", in_readme(r"num_bytes: \d+", "num_bytes: 7"), "bytes of original-noto/test"),
    ("features", in_readme(r"name: label\n    dtype: int64", "name: label\n    dtype: int32"), "features of config original-noto"),
    ("a config is not listed", in_readme(r"^- config_name: explicit-noto\n  data_files:\n.*\n.*\n", ""), "config explicit-noto"),
    ("a config has no tables", lambda folder: shutil.rmtree(folder / "explicit-noto"), "config explicit-noto"),
    ("dataset_info is not there", in_readme(r"^dataset_info:", "other_info:"), "dataset_info of config original-noto"),
    ("a split has another name", rename_split, "split explicit-noto/test"),
    ("files of a config", in_readme(r"path: explicit-noto/test-\*", "path: explicit-noto/*"), "data_files of config explicit-noto"),
    ("the default config", in_readme(r"  default: true\n", ""), "default of config original-noto"),
    ("licence", in_readme(r"^- apache-2.0", "- mit"), "license"),
    ("language", in_readme(r"^- ko$", "- en"), "language"),
    ("tasks", in_readme(r"^- visual-question-answering", "- text-generation"), "task_categories"),
    ("size", in_readme(r"^- n<1K", "- 1K<n<10K"), "size_categories"),
    ("tags", in_readme(r"^- benchmark\n", ""), "tags"),
    ("title", in_readme(r"^pretty_name: .*$", "pretty_name: KoNA"), "pretty_name"),
    ("recipe version", in_json("recipe.json", of(version=9)), "section How it was made"),
    ("seed", in_json("recipe.json", of(seed=9)), "section How to rebuild it"),
    ("options", in_json("recipe.json", of(options={"images": "twemoji"})), "section 만든 방법"),
    ("source digest", in_json("recipe.json", lambda value: value["sources"][0].update(digest=f"sha256:{'0' * 64}")), "section Sources"),
    ("planned rows", in_json("recipe.json", lambda value: value["counts"].update(rows=99)), "section How it was made"),
    ("image licences", in_json("images.lock.jsonl", lambda v: v["image_id"].endswith("0") and v.update(licence=None)), "section Licences"),
    ("whom to name", in_json("images.lock.jsonl", of(attribution="Somebody")), "section Licences"),
    ("no picture", lambda folder: (folder / "sample.webp").unlink(), "sample picture"),
    ("another picture", another_picture, "sample picture"),
    ("a picture that is not due", in_json("images.lock.jsonl", of(licence=None)), "sample picture"),
    ("not a picture", lambda folder: (folder / "sample.webp").write_bytes(b"no"), "sample picture"),
    ("text by hand", in_readme(r"not yet validated by annotators\.", "validated by many annotators."), "section English"),
    ("Korean text by hand", in_readme(r"아직 사람의 검증을 거치지 않았습니다\.$", "사람이 모두 검증했습니다."), "section 한국어"),
    ("a section of one's own", in_readme(r"^### Limits", "### News\n\nIt snows.\n\n### Limits"), "section News"),
    ("a section less", in_readme(r"^### Ethics\n\n(- .*\n)+", ""), "section Ethics"),
    ("citation", in_readme(r"year   = \{2026\}", "year   = {1999}"), "section How to cite"),
    ("front matter", in_readme(r"^configs:", "configs: [}"), "front matter"),
    ("no front matter", in_readme(r"\A---\n", ""), "front matter"),
    ("no card", lambda folder: (folder / "README.md").unlink(), "README.md"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "what"), [case[1:] for case in STALE], ids=[case[0] for case in STALE])
def test_what_is_stale_is_named(
    built_all: dict[str, Path], tmp_path: Path, change: Callable[[Path], Any], what: str
) -> None:
    folder = shutil.copytree(built_all["kona-noto"], tmp_path / "kona", ignore=shutil.ignore_patterns("plan"))
    change(folder)
    facts = read_facts(folder)
    stale = stale_parts(folder, facts)
    assert what in {each.what for each in stale}
    assert all(each.card != each.folder for each in stale)
    write_card(folder, facts, own_parts(folder))
    assert stale_parts(folder, facts) == []


def test_only_what_is_stale_is_named(built_all: dict[str, Path], tmp_path: Path) -> None:
    folder = shutil.copytree(built_all["kona-noto"], tmp_path / "kona")
    facts = read_facts(folder)
    in_readme(r"num_examples: 1$", "num_examples: 7")(folder)
    in_readme(r"^- benchmark\n", "")(folder)
    assert stale_parts(folder, facts) == [
        Stale("tags", "korean, word-sense-disambiguation, image-selection, hannun",
              "korean, word-sense-disambiguation, image-selection, benchmark, hannun"),
        Stale("rows of original-noto/test", "7", "1", Part.ROWS),
    ]  # fmt: skip


def test_what_the_owner_adds_is_kept(built_all: dict[str, Path], tmp_path: Path) -> None:
    folder = shutil.copytree(built_all["kona-noto"], tmp_path / "kona")
    text = text_of(folder)
    assert text.endswith(f"{OWN_TEXT}\n")
    own = "## News\n\nSeen at a workshop: 눈.\n"
    (folder / "README.md").write_text(text.replace("pretty_name", "viewer: false\npretty_name", 1) + own, "utf-8")
    facts = read_facts(folder)
    assert stale_parts(folder, facts) == []
    for _ in range(2):
        write_card(folder, facts, own_parts(folder))
        assert text_of(folder).endswith(f"{OWN_TEXT}\n\n{own}")
        assert head_of(folder)["viewer"] is False
    assert stale_parts(folder, facts) == []


def test_the_command_checks_and_mends(built_all: dict[str, Path], tmp_path: Path, run: Callable[..., Any]) -> None:
    folder = shutil.copytree(built_all["kona-noto"], tmp_path / "kona")
    assert run("hannun", "card", folder, "--check").returncode == 0
    in_json("recipe.json", of(version=9))(folder)
    in_readme(r"^- apache-2.0", "- mit")(folder)
    before = text_of(folder)
    checked = run("hannun", "card", folder, "--check")
    assert checked.returncode == 1
    assert "stale: license\n  card:   mit\n  folder: apache-2.0" in checked.stdout
    assert "| `kona` | 1 | 1 |" in checked.stdout
    assert "| `kona` | 9 | 1 |" in checked.stdout
    assert text_of(folder) == before
    listed = json.loads(run("hannun", "card", folder, "--check", "--json").stdout)
    assert {"what": "license", "card": "mit", "folder": "apache-2.0"} in listed
    assert run("hannun", "card", folder).returncode == 0
    assert run("hannun", "card", folder, "--check").returncode == 0


@pytest.mark.parametrize(
    ("place", "says"), [("no such", "no such folder"), ("empty", "no build here"), ("plan", "a plan, not a build")]
)
def test_what_has_no_card_is_explained(
    built_all: dict[str, Path], tmp_path: Path, run: Callable[..., Any], place: str, says: str
) -> None:
    (tmp_path / "empty").mkdir()
    folder = built_all["kona"] / "plan" if place == "plan" else tmp_path / place
    done = run("hannun", "card", folder, "--check")
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_names_from_elsewhere_are_text_only(built_all: dict[str, Path], tmp_path: Path) -> None:
    folder = shutil.copytree(built_all["kona-noto"], tmp_path / "kona")
    licence = {"spdx": None, "name": "Mine | [x](y)", "url": "https://a.example/a b)c|d"}
    in_json("images.lock.jsonl", of(attribution="<b>A</b> | `B`\n[c](d)", licence=licence))(folder)
    write_card(folder, read_facts(folder), own_parts(folder))
    [line] = [line for line in text_of(folder).splitlines() if "Mine" in line and line.startswith("|")]
    assert line.startswith(r"| [Mine \| \[x\](y)](https://a.example/a%20b%29c%7Cd) |")
    assert line.endswith(r"| \<b\>A\</b\> \| \`B\` \[c\](d) |")
    assert stale_parts(folder, read_facts(folder)) == []


def test_a_build_without_rights_leaves_no_picture_of_an_earlier_one(built_all: dict[str, Path], tmp_path: Path) -> None:
    from hannun.builders.folder import staged

    folder = shutil.copytree(built_all["kona-noto"], tmp_path / "kona")
    with staged(folder) as staging:
        (staging / "README.md").write_text("new", "utf-8")
    assert not (folder / "sample.webp").exists()
    assert not (folder / "croissant.json").exists()
