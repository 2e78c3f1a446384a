from __future__ import annotations

import re

import pytest
from hannun.reconstruct.recipes import recipe_module
from hannun.schemas import catalogue, json_schema
from hannun.schemas.errors import InputError
from hannun.schemas.outcome import Outcome
from hannun.validate.rule import RULES


@pytest.mark.parametrize("name", catalogue.names())
def test_every_benchmark_has_what_its_users_need(name: str) -> None:
    benchmark = catalogue.benchmark(name)
    assert benchmark.name == name
    assert re.match(r"@\w+\{", benchmark.citation.strip())
    assert benchmark.text_licence.name
    assert benchmark.image_licence.name
    assert benchmark.record in json_schema.names()
    assert recipe_module(benchmark.recipe).VERSION >= 1
    assert len({config.name for config in benchmark.configs}) == len(benchmark.configs)
    for source in benchmark.sources.values():
        assert source.path or source.distribution or source.address or source.by_hand


@pytest.mark.parametrize("name", catalogue.entries())
def test_every_file_fits_its_schema(name: str) -> None:
    assert json_schema.problems("catalogue", catalogue.raw(name)) == []


def test_a_config_may_be_a_benchmark_alone() -> None:
    whole, alone = catalogue.benchmark("sage-verse"), catalogue.benchmark("sage-verse-spis")
    assert alone.configs == (whole.config("verse-spis"),)
    assert (alone.sources, alone.recipe, alone.licences) == (whole.sources, whole.recipe, whole.licences)
    assert set(catalogue.names()) - set(catalogue.entries()) == {config.alone for config in whole.configs}


def test_a_benchmark_of_several_holds_what_they_hold() -> None:
    sage = catalogue.benchmark("sage")
    names = ["vwsd", "verse-original", "verse-spis", "verse-spis-neutralized", "wikidiverse"]
    assert [config.name for config in sage.configs] == names
    assert sage.recipes == ("sage_vwsd", "sage_verse", "sage_wikidiverse")
    for member in sage.members:
        assert member.sources.items() <= sage.sources.items()
        assert all(fact in sage.facts for fact in member.facts)
    assert sage.citation.count("@misc{sage_2026") == 1
    assert sage.citation.count("@inproceedings{") == 4


def test_an_unknown_benchmark_or_config_is_explained() -> None:
    with pytest.raises(InputError, match="no benchmark named 'konna'"):
        catalogue.benchmark("konna")
    with pytest.raises(InputError, match="no config 'masked'"):
        catalogue.benchmark("kona").config("masked")


def test_schemas_are_schemas_and_name_the_same_outcomes() -> None:
    for name in json_schema.names():
        validator = json_schema.validator(name)
        validator.check_schema(json_schema.document(name))
    for name in ("observed", "report"):
        text = str(json_schema.document(name))
        assert all(f"'{outcome.value}'" in text for outcome in Outcome)
    assert json_schema.document("observed")["properties"]["outcome"]["enum"] == [each.value for each in Outcome]


def test_every_outcome_and_rule_says_what_it_means_and_what_to_do() -> None:
    for outcome in Outcome:
        assert outcome.meaning
        assert outcome.next_step
        assert outcome.again
    codes = [rule.code for rule in RULES.values()]
    assert len(set(codes)) == len(codes)
    assert all(re.fullmatch(r"HN-[A-Z]+-\d{3}", code) for code in codes)
    assert all(rule.title and rule.todo for rule in RULES.values())
