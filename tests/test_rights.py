"""What may be passed on: by the licence of each text and picture, decided without touching anything."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hannun.cards.rights import rights_of
from hannun.schemas import catalogue
from hannun.schemas.licence import Licence, Redistribution, allows_changes, right_to_pass_on
from hannun.schemas.lock import LockEntry

KONA = catalogue.benchmark("kona")
ALLOWED, FORBIDDEN, UNKNOWN = Redistribution.ALLOWED, Redistribution.FORBIDDEN, Redistribution.UNKNOWN


def picture(name: str, spdx: str | None = None, licence: str | None = None, author: str | None = "A") -> LockEntry:
    return LockEntry(name, (), licence={"spdx": spdx, "name": licence, "url": None}, attribution=author)


@pytest.mark.parametrize(
    ("spdx", "name", "author", "right"),
    [
        ("CC-BY-4.0", None, "Anna", ALLOWED),
        ("CC-BY-4.0", None, None, UNKNOWN),
        ("CC-BY-SA-3.0-DE", None, "Anna", ALLOWED),
        ("CC-BY-NC-ND-2.0", "Attribution-NonCommercial-NoDerivs License", "Anna", ALLOWED),
        (None, "CC BY-SA 2.5 IN", "Anna", ALLOWED),
        (None, "CC BY 2.0 KR", None, UNKNOWN),
        ("CC0-1.0", "CC0", None, ALLOWED),
        ("Apache-2.0", None, None, ALLOWED),
        (None, "Public domain", None, ALLOWED),
        (None, "No known copyright restrictions", None, ALLOWED),
        (None, "United States Government Work", None, ALLOWED),
        (None, "Fair use", "Anna", FORBIDDEN),
        (None, "All Rights Reserved", "Anna", FORBIDDEN),
        (None, "Non-free logo", "Anna", FORBIDDEN),
        ("LicenseRef-CC-BY", None, "Anna", UNKNOWN),
        (None, "not CC BY 4.0", "Anna", UNKNOWN),
        (None, "each picture's own; not stated", None, UNKNOWN),
        (None, None, None, UNKNOWN),
    ],
)
def test_the_right_to_a_picture(spdx: str | None, name: str | None, author: str | None, right: Redistribution) -> None:
    found = right_to_pass_on({"spdx": spdx, "name": name, "url": None}, author)
    assert found.redistribution is right
    assert found.why


def test_no_licence_is_unknown() -> None:
    assert right_to_pass_on(None, "Anna").redistribution is UNKNOWN


def test_no_derivatives_are_not_shown_smaller() -> None:
    assert not allows_changes({"spdx": "CC-BY-ND-2.0"})
    assert allows_changes({"spdx": "CC-BY-NC-SA-2.0"})
    assert allows_changes(None)


PICTURES = [picture("a:1", "CC-BY-4.0"), picture("a:2", None, "All rights reserved"), picture("a:3"), picture("a:4")]


def test_confirming_helps_what_is_unknown_and_nothing_else() -> None:
    rights = rights_of(KONA, PICTURES)
    assert set(rights.withheld_images) == {"a:2", "a:3", "a:4"}
    assert rights.withheld_texts == {}
    assert not rights.is_whole
    confirmed = rights_of(KONA, PICTURES, confirmed=True)
    assert set(confirmed.withheld_images) == {"a:2"}
    assert confirmed.to_json() == {
        "withheld": [
            {"what": "pictures", "count": 1, "redistribution": "forbidden", "why": "All rights reserved forbids it"}
        ],
        "confirmed": [{"what": "pictures", "count": 2, "redistribution": "unknown", "why": "no licence is known"}],
    }


def test_texts_have_rights_of_their_own() -> None:
    terms = Licence("terms of a site", "the site", UNKNOWN)
    benchmark = replace(KONA, licences={**KONA.licences, "text": terms})
    assert rights_of(benchmark, []).withheld_texts["kona"].redistribution is UNKNOWN
    assert rights_of(benchmark, [], confirmed=True).is_whole
    forbidden = replace(KONA, licences={**KONA.licences, "text": replace(terms, redistribution=FORBIDDEN)})
    assert not rights_of(forbidden, [], confirmed=True).is_whole


def test_a_publisher_who_forbids_is_heard_for_every_picture() -> None:
    images = replace(KONA.image_licence, redistribution=FORBIDDEN)
    benchmark = replace(KONA, licences={**KONA.licences, "images": images})
    assert set(rights_of(benchmark, PICTURES, confirmed=True).withheld_images) == {each.image_id for each in PICTURES}


@pytest.mark.parametrize("name", catalogue.names())
def test_every_benchmark_names_the_texts_it_has_rights_to(name: str) -> None:
    benchmark = catalogue.benchmark(name)
    rights = rights_of(benchmark, [])
    assert set(rights.texts) == set(benchmark.text_licences)
    assert rights.is_whole == all(each.redistribution is ALLOWED for each in benchmark.text_licences.values())
