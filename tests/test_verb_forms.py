"""Verb forms: the table against lemminflect, neutralization against a stemmer, planted leaks, real captions."""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections import Counter
from importlib.resources import files
from typing import Any

import pytest
from conftest import SHARED
from hannun.reconstruct.recipes.sage_verse import PLACEHOLDER
from hannun.reconstruct.recipes.verb_forms import INFLECTIONS, TABLE, WORD, VerbForms, reviewed, words_of
from hannun.reconstruct.source import Source
from hannun.schemas.errors import InputError
from hannun.schemas.table import parse_table
from hannun.validate.checks import sage_verse
from hannun.validate.checks.sage_verse import Checks
from hannun.validate.finding import Place
from hannun.validate.reader import Row
from hypothesis import given
from hypothesis import strategies as st

ROWS = parse_table(TABLE.read_bytes(), "verb_forms.tsv", columns=("lemma", "form", "do", "note")).rows
LEMMAS = sorted({row["lemma"] for row in ROWS})
VERSE = SHARED / "data" / "verse"
CAPTIONS = SHARED / "data" / "derived" / "verse_coco_captions.jsonl"

places, neutralized = reviewed().places, reviewed().neutralized
lemmas = st.sampled_from(LEMMAS)


def forms_of(lemma: str) -> set[str]:
    return set(reviewed().verb(lemma).forms)


@st.composite
def texts(draw: st.DrawFn) -> tuple[str, str]:
    """A verb, and a text in which its forms, other words and marks stand in any order and case."""
    lemma = draw(lemmas)
    forms = st.sampled_from(sorted(forms_of(lemma)))
    piece = st.one_of(
        forms,
        forms.map(str.upper),
        forms.map(str.capitalize),
        st.builds("{}{}".format, forms, st.sampled_from(["s", "ed", "ing", "er", "ful", "ly", "'s", "2", "_"])),
        st.text(max_size=6),
    )
    between = st.sampled_from([" ", "-", ". ", ", ", "", "\n", "'", "’", "/"])
    return lemma, "".join(draw(st.lists(st.one_of(piece, between), max_size=12)))


def row(context: str, lemma: str, target: str = PLACEHOLDER, config: str = "verse-spis-neutralized") -> Row:
    values: dict[str, Any] = {"id": f"sage/{config}/{lemma}-1", "context": context, "target": target}
    return Row(Place("instances.jsonl"), {**values, "source": {"lemma": lemma}})


def codes(checked: Row) -> list[str]:
    return [each.rule.code for each in Checks({}).check(checked)]


def test_the_table_is_lemminflects_but_for_named_exceptions() -> None:
    inflections = pytest.importorskip("lemminflect").getAllInflections
    theirs = {
        (lemma, form)
        for lemma in LEMMAS
        for each in inflections(lemma, upos="VERB").values()
        for form in (lemma, *each)
    }
    ours = {(each["lemma"], each["form"]) for each in ROWS}
    assert ours - theirs == {("lay", "lain")}
    assert theirs - ours == set()
    # What other lists lack, and is written all the same.
    assert {("fly", "flied"), ("tie", "tieing")} < ours
    assert len(ours) == len(ROWS) == 376


def test_the_table_is_in_order() -> None:
    assert len(LEMMAS) == 90
    cells = [(each["lemma"], each["form"]) for each in ROWS]
    assert cells == sorted(cells, key=lambda each: (each[0], each[1] != each[0], each[1]))
    assert all(re.fullmatch("[a-z]+", form) for _, form in cells)
    assert all(lemma in forms_of(lemma) for lemma in LEMMAS)


@pytest.mark.parametrize("name", ["3.5k_verse_gold", "gold_all_final_lemma"])
def test_the_table_holds_verses_verbs(name: str) -> None:
    path = VERSE / f"{name}_image_sense_annotations.csv"
    if not path.is_file():
        pytest.skip("shared/data/verse is not at hand")
    with path.open(encoding="utf-8", newline="") as file:
        assert sorted({line["lemma"] for line in csv.DictReader(file)}) == LEMMAS


def test_an_unknown_verb_is_explained() -> None:
    for call in (reviewed().verb, lambda verb: places("x", verb), lambda verb: neutralized("x", verb, PLACEHOLDER)):
        with pytest.raises(InputError, match="does not hold") as caught:
            call("juggle")
        assert "verb_forms.tsv" in str(caught.value.where)
        assert caught.value.got == "juggle"


@pytest.mark.parametrize(
    ("text", "lemma", "words"),
    [
        ("A man is tying a tie.", "tie", ["tying", "tie"]),
        ("The pitcher throws a pitch", "pitch", ["pitch"]),
        ("A player at the playground", "play", []),
        ("T-ball playing kids", "play", ["playing"]),
        ("Kids playing-T-ball", "play", ["playing"]),
        ("A stir-fry in a wok", "stir", ["stir"]),
        ("the drive's end, a man’s ride", "drive", ["drive"]),
        ("'Running' (RUN!) ran;run", "run", ["Running", "RUN", "ran", "run"]),
        ("A WOMAN IS HOLDING A HAIR DRYER", "hold", ["HOLDING"]),
        ("cooked\ncook ", "cook", ["cooked", "cook"]),
        ("no3run run_2", "run", ["run", "run"]),
        ("réading éread", "read", []),
        ("A dog has lain down", "lay", ["lain"]),
        ("", "lay", []),
    ],
)
def test_places_are_whole_words(text: str, lemma: str, words: list[str]) -> None:
    found = places(text, lemma)
    assert [text[start:end] for start, end in found] == words
    assert found == sorted(found)


@pytest.mark.parametrize(
    ("text", "lemma", "result", "rule"),
    [
        ("A man is Tying a TIE.", "tie", "A man is [VERB] a [VERB].", "whole-words"),
        ("A player plays", "play", "A player [VERB]", "whole-words"),
        ("The pitcher's pitch", "pitch", "The pitcher's [VERB]", "whole-words"),
        ("A stir-fry", "stir", "A [VERB]-fry", "whole-words"),
        ("A dog", "run", "A dog", "whole-words"),
        ("Man painting near paintings", "paint", "Man [VERB] near [VERB]", "derived-words"),
        ("A dog runing to run", "run", "A dog [VERB] to [VERB]", "derived-words"),
        ("Plates layed out", "lay", "Plates [VERB] out", "derived-words"),
        ("Performers perform", "perform", "[VERB] [VERB]", "derived-words"),
        ("He shoots shots, playfully", "shoot", "He [VERB] [VERB], playfully", "derived-words"),
        ("A cleaner cleansed a clean sink", "clean", "A cleaner cleansed a [VERB] sink", "whole-words"),
    ],
)
def test_neutralization_by_rule(text: str, lemma: str, result: str, rule: str) -> None:
    found, spans, used = neutralized(text, lemma, PLACEHOLDER)
    assert (found, used) == (result, rule)
    assert [found[start:end] for start, end in spans] == [PLACEHOLDER] * result.count(PLACEHOLDER)


@pytest.mark.parametrize(
    ("text", "lemma", "result"),
    [
        ("A man is Tying a TIE.", "tie", "A man is Doing a DO."),
        ("He rode what she rides, ridden once", "ride", "He did what she does, done once"),
        ("Man painting near Paintings", "paint", "Man doing near Doing"),
        ("Plates layed out, a dog has lain", "lay", "Plates done out, a dog has done"),
        ("SHOTS and playful shooting", "shoot", "DOES and playful doing"),
        ("I run", "run", "I do"),
    ],
)
def test_do_is_inflected_as_the_verb_was(text: str, lemma: str, result: str) -> None:
    found, spans, _ = neutralized(text, lemma, "do")
    assert found == result
    assert {found[start:end].lower() for start, end in spans} <= INFLECTIONS


def test_do_is_inflected_as_lemminflect_says() -> None:
    inflections = pytest.importorskip("lemminflect").getAllInflections
    tags = {"do": ("VB", "VBP"), "does": ("VBZ",), "doing": ("VBG",), "did": ("VBD",), "done": ("VBN", "VBD")}
    for each in ROWS:
        theirs = inflections(each["lemma"], upos="VERB")
        alike = {form for tag in tags[each["do"]] for form in theirs.get(tag, ())}
        # Base forms are also past (hit, put), and lain is not in lemminflect.
        assert each["form"] in alike | {each["lemma"], "lain"}
        # Captions write a past form that is the participle too as a participle: covered, held.
        assert each["do"] != "did" or each["form"] == "flied" or not each["form"].endswith("ed")


@pytest.mark.parametrize(
    ("line", "says"),
    [("run\trun\tmake\t-", "no form of do"), ("go\tgo\tdo\t-", "no form of a verb"), ("a\tno way\tdo\t-", "no form")],
)
def test_a_table_that_is_none_is_refused(line: str, says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        VerbForms(Source("verb-forms", "mine.tsv", f"lemma\tform\tdo\tnote\n{line}\n".encode()))
    assert caught.value.where == "mine.tsv, line 2"


def test_a_table_of_ones_own_may_hold_other_verbs() -> None:
    mine = VerbForms(
        Source("verb-forms", "mine.tsv", b"lemma\tform\tdo\njuggle\tjuggle\tdo\njuggle\tjuggling\tdoing\n")
    )
    assert mine.neutralized("Juggling balls", "juggle", "[VERB]")[0] == "[VERB] balls"
    assert mine.verbs_of("juggling") == ["juggle"]


@given(lemmas, st.sampled_from(["", "s", "ed", "ing", "er", "ful", "ings", "x"]), st.data())
def test_verbs_are_found_by_their_words(lemma: str, ending: str, data: st.DataObject) -> None:
    word = data.draw(st.sampled_from(sorted(forms_of(lemma)))) + ending
    found = neutralized(word, lemma, PLACEHOLDER)[0] != word
    assert (lemma in reviewed().verbs_of(word.upper())) is found


def test_a_placeholder_that_holds_the_verb_is_refused() -> None:
    for placeholder in ("[play]", "PLAYED", "plays.", "playful"):
        with pytest.raises(InputError, match="placeholder"):
            neutralized("They play", "play", placeholder)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_words_are_runs_of_letters(text: str) -> None:
    assert words_of(text) == WORD.findall(text)


@given(lemmas, st.text())
def test_a_text_without_forms_is_unchanged(lemma: str, text: str) -> None:
    letters = "".join(c for c in text if c.upper() not in "AEIOUY" and c.lower() not in "aeiouy")
    assert places(letters, lemma) == []
    assert neutralized(letters, lemma, PLACEHOLDER) == (letters, [], "whole-words")


@given(texts(), st.sampled_from([PLACEHOLDER, "do", "_", ""]))
def test_neutralized_texts_hold_placeholders_where_the_spans_say(case: tuple[str, str], placeholder: str) -> None:
    lemma, text = case
    result, spans, rule = neutralized(text, lemma, placeholder)
    assert places(result, lemma) == []
    stood_in = [result[start:end] for start, end in spans]
    assert {word.lower() for word in stood_in} <= INFLECTIONS if placeholder == "do" else set(stood_in) <= {placeholder}
    assert spans == sorted(spans)
    assert len(spans) >= len(places(text, lemma))
    assert neutralized(result, lemma, placeholder) == (result, [], "whole-words")
    assert rule in {"whole-words", "derived-words"}
    # What is not a placeholder is the text's own, in its order.
    kept, done = [], 0
    for start, end in spans:
        kept.append(re.escape(result[done:start]))
        done = end
    pattern = r"[^\W\d_]+".join([*kept, re.escape(result[done:])])
    assert re.fullmatch(pattern, text, re.DOTALL)


@given(texts())
def test_places_are_the_words_of_the_table(case: tuple[str, str]) -> None:
    lemma, text = case
    words = [(m.start(), m.end()) for m in re.finditer(r"[^\W\d_]+", text) if m.group().lower() in forms_of(lemma)]
    assert set(words) <= set(places(text, lemma))
    assert all(text[start:end].casefold() in forms_of(lemma) for start, end in places(text, lemma))


STEMMED_ALIKE = {"carrie", "chang", "changs", "singe", "singeing", "singes"}
"""Names and another verb that the stemmer cannot tell from carry, change and sing."""


def test_no_english_word_with_a_verbs_stem_is_left() -> None:
    pytest.importorskip("snowballstemmer")
    lexicon = files(pytest.importorskip("lemminflect")) / "resources" / "infl_lu.csv.gz"
    words = sorted(set(re.findall(r"[a-z]+", gzip.decompress(lexicon.read_bytes()).decode().lower())))
    assert len(words) > 20_000
    stems = [(word, sage_verse._stem(word)) for word in words]
    left = {
        word
        for lemma in LEMMAS
        for word, stem in stems
        if stem in sage_verse._stems_of(lemma) and neutralized(word, lemma, PLACEHOLDER)[0] == word
    }
    assert left == STEMMED_ALIKE


@pytest.mark.parametrize("lemma", LEMMAS)
def test_every_planted_form_is_found(lemma: str) -> None:
    for form in forms_of(lemma):
        for context in (f"A [VERB] and {form.upper()}.", f"[VERB]-{form}", f"[VERB] {form}'s"):
            assert codes(row(context, lemma)) == ["HN-SAGE-001"]
    assert codes(row("A [VERB] here", lemma)) == []


def test_the_stemmer_finds_what_the_table_does_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("snowballstemmer")
    for context, lemma in (("[VERB] the paintings", "paint"), ("[VERB] Shots", "shoot"), ("[VERB] layed", "lay")):
        assert places(context, lemma) == []
        assert codes(row(context, lemma)) == ["HN-SAGE-001"]
        with monkeypatch.context() as patch:
            patch.setattr(sage_verse, "_can_stem", lambda: False)
            assert codes(row(context, lemma)) == []
            assert [each.why for each in Checks({}).unchecked] == ["pip install 'hannun[sage]'"]
    assert list(Checks({}).unchecked) == []


def test_the_target_may_be_a_form_of_do_where_the_recipe_says_so() -> None:
    checks = Checks({"options": {"verse.placeholder": "do"}})
    for target, expected in (
        ("Doing", []),
        ("DONE", []),
        ("[VERB]", ["HN-SAGE-002"]),
        ("running", ["HN-SAGE-002", "HN-SAGE-001"]),
    ):
        assert [each.rule.code for each in checks.check(row("A cat", "run", target))] == expected


def test_the_target_is_the_placeholder() -> None:
    assert codes(row("A [VERB]", "run", "A")) == ["HN-SAGE-002"]
    assert codes(row("A [VERB]", "run", "ran")) == ["HN-SAGE-002", "HN-SAGE-001"]
    assert codes(row("A run", "run", "run", config="verse-spis")) == []


def test_a_verb_that_the_table_does_not_hold_is_listed_as_not_checked() -> None:
    checks = Checks({})
    assert list(checks.check(row("They [VERB] and juggle", "juggle"))) == []
    assert any("juggle" in each.what for each in checks.unchecked)


@pytest.mark.parametrize("values", [{}, {"id": 3}, {"id": "a/verse-spis-neutralized/b", "source": 1}])
def test_odd_rows_are_the_schemas_task(values: dict[str, Any]) -> None:
    assert codes(Row(Place("instances.jsonl"), values)) == []
    broken = {"id": "sage/verse-spis-neutralized/run-1", "source": {"lemma": "run"}, "context": None, "target": []}
    assert codes(Row(Place("instances.jsonl"), broken)) == []


def test_real_captions() -> None:
    if not CAPTIONS.is_file():
        pytest.skip("shared/data/derived is not at hand")
    pytest.importorskip("snowballstemmer")
    pairs = [json.loads(line) for line in CAPTIONS.read_text("utf-8").splitlines()]
    counts: Counter[str] = Counter()
    for pair in pairs:
        lemma = pair["lemma"]
        for caption in pair["captions"]:
            forms = len(places(caption, lemma))
            result, spans, rule = neutralized(caption, lemma, PLACEHOLDER)
            assert codes(row(result, lemma)) == []
            inside = not forms and any(form in caption.lower() for form in forms_of(lemma))
            counts.update(
                {"captions": 1, "two forms": forms > 1, "inside": inside, rule: 1, "placeholders": len(spans)}
            )
        # So a context is found for every pair.
        assert any(places(caption, lemma) for caption in pair["captions"])
    assert len(pairs) == 538
    assert counts["two forms"] >= 25
    assert counts["derived-words"] > 0
