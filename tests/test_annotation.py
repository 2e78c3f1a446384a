"""Forms for annotators: made, filled by people's programs and in a browser, read back, and their agreement."""

from __future__ import annotations

import csv
import io
import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hannun.evaluation.agreement import agreements, fleiss_kappa
from hannun.evaluation.form import COLUMNS, Answer, form_csv, item_of, questions, read_form
from hannun.reconstruct.plan_folder import PlanFolder
from hannun.schemas.errors import InputError
from hannun.schemas.instance import Instance, config_of
from hypothesis import given, settings
from hypothesis import strategies as st


@pytest.fixture(scope="module")
def rows(built_once: Path) -> list[Instance]:
    return [row for row in PlanFolder(built_once).rows() if config_of(row.id) == "original"]


def filled(rows: list[Instance], changes: dict[str, dict[str, str]], path: Path, encoding: str = "utf-8-sig") -> Path:
    """A form filled with the gold everywhere but where `changes` (row id -> cells) says otherwise."""
    by_item = {item_of(row): row for row in rows}
    lines = list(csv.DictReader(io.StringIO(form_csv(questions(rows, 1)).decode("utf-8-sig"))))
    for line in lines:
        row = by_item[line["item"]]
        line["choice"] = str(row.label)
        line.update(changes.get(row.id, {}))
    with path.open("w", encoding=encoding, errors="replace", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(lines)
    return path


def test_a_form_does_not_tell_the_answer(rows: list[Instance]) -> None:
    asked = questions(rows, 1)
    text = form_csv(asked).decode("utf-8")
    assert text.startswith("\ufeff")
    assert {each.row.id for each in asked} == {row.id for row in rows}
    for each in asked[:50]:
        for told in (each.row.id, each.row.source["sense"], each.row.source["gloss"], each.row.gold):
            assert told not in text
    assert [each.row.id for each in asked] != sorted(row.id for row in rows)
    assert [each.row.id for each in questions(rows, 2)] != [each.row.id for each in asked]
    assert {each.item for each in questions(rows, 2)} == {each.item for each in asked}


def test_forms_are_written_once_and_never_over_a_filled_one(
    run: Callable[..., Any], built_once: Path, tmp_path: Path
) -> None:
    arguments = ("export", "kona", "--for", "annotators", "--data", built_once, "--out", tmp_path / "forms")
    first = run("hannun", *arguments)
    assert first.returncode == 0, first.stderr
    names = {path.name for path in (tmp_path / "forms").iterdir()}
    assert names == {
        f"{config}.{kind}" for config in ("original", "explicit", "neutralized") for kind in ("csv", "html")
    }
    again = run("hannun", *arguments)
    assert again.returncode == 2
    assert "may be filled" in again.stderr
    unknown = run("hannun", *arguments[:-1], tmp_path / "other", "--config", "masked")
    assert unknown.returncode == 2
    assert "no config 'masked'" in unknown.stderr
    nobody = run("hannun", "export", "kona", "--for", "nobody", "--out", tmp_path)
    assert nobody.returncode == 2


def test_answers_are_read_back_as_spreadsheets_save_them(rows: list[Instance], tmp_path: Path) -> None:
    by_item = {item_of(row): row for row in rows}
    changes = {
        rows[0].id: {"choice": "없음", "also": "3", "natural": "no", "remark": '쉼표, "따옴표"'},
        rows[1].id: {"choice": ""},
        rows[2].id: {"choice": " 7 ", "also": "-"},
    }
    for encoding in ("utf-8", "utf-8-sig", "cp949"):
        answers = read_form(filled(rows, changes, tmp_path / f"{encoding}.csv", encoding), by_item)
        assert answers[rows[0].id] == Answer(-1, 3, natural=False, remark='쉼표, "따옴표"')
        assert rows[1].id not in answers
        assert answers[rows[2].id] == Answer(7, None, natural=True, remark="")
        assert len(answers) == len(rows) - 1


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        ({"choice": "10"}, "no such picture"),
        ({"choice": "a"}, "no such picture"),
        ({"also": "-1"}, "no such picture"),
        ({"item": "0000000000"}, "no such item"),
    ],
)
def test_a_broken_form_is_explained(rows: list[Instance], tmp_path: Path, cells: dict[str, str], says: str) -> None:
    path = filled(rows, {rows[5].id: cells}, tmp_path / "form.csv")
    with pytest.raises(InputError, match=says) as caught:
        read_form(path, {item_of(row): row for row in rows})
    assert "line " in str(caught.value.where)


def test_an_item_twice_or_no_form_at_all_is_explained(rows: list[Instance], tmp_path: Path) -> None:
    by_item = {item_of(row): row for row in rows}
    path = filled(rows, {}, tmp_path / "form.csv")
    line = path.read_text("utf-8-sig").splitlines()[1]
    path.write_text(path.read_text("utf-8") + line + "\n", "utf-8")
    with pytest.raises(InputError, match="twice"):
        read_form(path, by_item)
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="missing column"):
        read_form(tmp_path / "other.csv", by_item)
    with pytest.raises(InputError, match="no such file"):
        read_form(tmp_path / "none.csv", by_item)


def kappa_by_hand(choices: list[list[int]]) -> float:
    """Fleiss (1971): observed pairs that agree, above what the categories' shares alone would give."""
    n = len(choices[0])
    observed = sum(sum(c * (c - 1) for c in Counter(row).values()) / (n * (n - 1)) for row in choices) / len(choices)
    shares = Counter(choice for row in choices for choice in row)
    chance = sum((count / (n * len(choices))) ** 2 for count in shares.values())
    return (observed - chance) / (1 - chance)


# The first call imports statsmodels.
@settings(deadline=None)
@given(
    st.integers(2, 6).flatmap(
        lambda n: st.lists(st.lists(st.integers(-1, 9), min_size=n, max_size=n), min_size=2, max_size=30)
    )
)
def test_kappa_is_fleiss_kappa(choices: list[list[int]]) -> None:
    kappa, why = fleiss_kappa(choices, len(choices[0]))
    if len({choice for row in choices for choice in row}) == 1:
        assert kappa is None
        assert why is not None
    else:
        assert kappa == pytest.approx(kappa_by_hand(choices), abs=1e-9)


def test_agreement_of_three_annotators(rows: list[Instance]) -> None:
    rows = rows[:40]
    right = {row.id: Answer(row.label, None, natural=True, remark="") for row in rows}
    second = dict(right)
    second[rows[0].id] = Answer((rows[0].label + 1) % 10, None, natural=True, remark="")
    third = {row.id: right[row.id] for row in rows[:30]}
    third[rows[0].id] = second[rows[0].id]
    third[rows[1].id] = Answer(rows[1].label, (rows[1].label + 3) % 10, natural=False, remark="")
    [found] = agreements(rows, [right, second, third])
    assert found.config == "original"
    assert found.answered == (40, 40, 30)
    assert found.with_gold == pytest.approx((1.0, 39 / 40, 29 / 30))
    assert found.majority == pytest.approx(39 / 40)
    assert (found.rows, found.shared) == (40, 30)
    shared = [[form[row.id].choice for form in (right, second, third)] for row in rows[:30]]
    assert found.kappa == pytest.approx(kappa_by_hand(shared))
    assert [doubt.row_id for doubt in found.doubts] == [rows[0].id, rows[1].id]
    assert found.doubts[1].also == ((rows[1].label + 3) % 10,)
    [alone] = agreements(rows, [right])
    assert alone.kappa is None
    assert alone.kappa_missing == "it takes two annotators"


def test_the_command_prints_agreement_and_doubts(
    run: Callable[..., Any], built_once: Path, rows: list[Instance], tmp_path: Path
) -> None:
    wrong = {rows[0].id: {"choice": str((rows[0].label + 1) % 10), "remark": "둘 다 맞음"}}
    forms = [filled(rows, {}, tmp_path / "1.csv"), filled(rows, wrong, tmp_path / "2.csv")]
    told = run("hannun", "agreement", built_once, *forms)
    assert told.returncode == 0, told.stderr
    assert "99.7%" in told.stdout
    assert "Fleiss' kappa over 378 rows that all answered: 0.997" in told.stdout
    assert rows[0].id in told.stdout
    assert "둘 다 맞음" in told.stdout
    as_json = json.loads(run("hannun", "agreement", built_once, *forms, "--json").stdout)
    assert as_json[0]["with_gold"][0] == 1.0
    empty = run(
        "hannun", "agreement", built_once, filled(rows, {row.id: {"choice": ""} for row in rows}, tmp_path / "3.csv")
    )
    assert empty.returncode == 2
    assert "hold no answer" in empty.stderr


def test_a_person_fills_the_page(browser: Any, built_once: Path, rows: list[Instance], tmp_path: Path) -> None:
    from hannun.reconstruct.home import store_folder
    from hannun.reconstruct.store import Store
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.support.wait import WebDriverWait

    from hannun import pages

    pages.write_forms(built_once, Store(store_folder()), tmp_path / "forms", configs=["original"])
    page = tmp_path / "forms" / "original.html"
    text = page.read_text("utf-8")
    asked = questions(rows, 1)
    assert not any(each.row.id in text or each.row.source["gloss"] in text for each in asked)
    assert "gold" not in text.partition("<main")[2].partition("<script")[0]
    browser.set_window_size(500, 900)
    browser.get(page.as_uri())
    assert browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")

    def forms() -> list[Any]:
        return browser.find_elements("css selector", ".question")

    rng = random.Random(4)
    chosen = {each.row.id: rng.randrange(10) for each in asked[:4]}
    for each, form in zip(asked[:3], forms(), strict=False):
        form.find_elements("css selector", ".choice")[chosen[each.row.id]].click()
    forms()[1].find_element("name", "also").send_keys("5")
    forms()[1].find_element("name", "natural").click()
    forms()[1].find_element("name", "remark").send_keys('말이 "조금", 어색')
    # The keyboard: to the next empty question, then a digit.
    browser.find_element("css selector", "#next").click()
    ActionChains(browser).send_keys(str(chosen[asked[3].row.id])).perform()
    # What was chosen outlives the page.
    browser.get(page.as_uri())
    assert browser.find_element("css selector", "#tools output").text == "4 / 378"
    browser.find_element("css selector", "#save").click()
    saved = tmp_path / "saved" / "original.csv"
    WebDriverWait(browser, 20).until(lambda _: saved.exists())
    answers = read_form(saved, {item_of(row): row for row in rows})
    assert {row_id: answer.choice for row_id, answer in answers.items()} == chosen
    assert answers[asked[1].row.id] == Answer(chosen[asked[1].row.id], 5, natural=False, remark='말이 "조금", 어색')
