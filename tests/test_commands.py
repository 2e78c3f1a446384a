"""Both commands as processes: exit codes, messages, kills, pipes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from loopback import Answer, serving
from pictures import jpeg, png

RECONSTRUCT = ("list", "plan", "fetch", "verify", "lock", "report", "run")


def test_help_and_version(run) -> None:
    for command, verbs in (("hannun", ("list", "build", "validate")), ("sage-reconstruct", RECONSTRUCT)):
        helped = run(command, "--help")
        assert helped.returncode == 0
        assert all(verb in helped.stdout for verb in verbs)
        assert run(command, "--version").stdout.strip()
        for verb in verbs:
            shown = run(command, verb, "--help")
            assert shown.returncode == 0
            assert "Usage" in shown.stdout


def test_help_and_import_load_nothing_heavy() -> None:
    heavy = {
        "datasets",
        "pyarrow",
        "PIL",
        "numpy",
        "pandas",
        "requests",
        "jsonschema",
        "rich",
        "yaml",
        "huggingface_hub",
    }
    code = "import sys; {}; print(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    for action in (
        "import hannun",
        "from hannun.commands.main import LazyGroup",
        (
            "from click.testing import CliRunner; from hannun.commands import main as m;"
            " CliRunner().invoke(m.LazyGroup(m._RECONSTRUCT, name='x'), ['--help'])"
        ),
    ):
        loaded = subprocess.run(
            [sys.executable, "-c", code.format(action)], check=True, capture_output=True, text=True
        ).stdout.split()
        assert not heavy & set(loaded)


@pytest.mark.parametrize(
    "arguments",
    [
        ["hannun", "--no-such-option"],
        ["hannun", "nothing"],
        ["hannun", "validate"],
        ["hannun", "validate", "no-such-file.jsonl"],
        ["hannun", "validate", "kona", "--level", "pixels"],
        ["hannun", "build", "konna", "--out", "x"],
        ["sage-reconstruct", "plan", "kona"],
        ["sage-reconstruct", "plan", "kona", "--out", "x", "--set", "seed"],
        ["sage-reconstruct", "plan", "kona", "--out", "x", "--set", "seed=many"],
        ["sage-reconstruct", "plan", "kona", "--out", "x", "--set", "sead=1"],
        ["sage-reconstruct", "plan", "kona", "--out", "x", "--source", "kona-senses=/no/such/file"],
        ["sage-reconstruct", "plan", "kona", "--out", "x", "--source", "verbs=/dev/null"],
        ["sage-reconstruct", "fetch", "no-such-folder"],
        ["sage-reconstruct", "verify", "."],
        ["sage-reconstruct", "report", "."],
        ["sage-reconstruct", "lock", "."],
    ],
)
def test_wrong_use_is_explained_with_exit_2_and_writes_nothing(run, tmp_path: Path, arguments: list[str]) -> None:
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.strip()
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def plan(tmp_path: Path, run):
    """A plan folder made by hand: three images on a loopback server."""
    with serving() as server:
        pictures = {"a": jpeg(), "b": png((1, 2, 3)), "c": png((4, 5, 6))}
        rows, lock = [], []
        for name, data in pictures.items():
            address = server.answer(f"/{name}", Answer(data))
            entry = {
                "image_id": f"p:{name}",
                "locations": [address],
                "digests": {},
                "licence": None,
                "attribution": None,
            }
            lock.append({**entry, **dict.fromkeys(("bytes", "width", "height", "format", "pixels"))})
        recipe = {
            "benchmark": "kona", "recipe": "kona", "version": 1, "options": {}, "seed": 1, "sources": [], "dropped": [],
            "counts": {"rows": 0, "images": 3, "dropped": 0},
        }  # fmt: skip
        folder = tmp_path / "plan"
        folder.mkdir()
        for file, content in (("instances.jsonl", rows), ("images.lock.jsonl", lock), ("recipe.json", [recipe])):
            (folder / file).write_text("".join(json.dumps(each) + "\n" for each in content))
        server.folder, server.store = folder, tmp_path / "store"

        def call(verb: str, *more: object):
            given = ("--allow-private", "--store", server.store) if verb == "fetch" else ("--store", server.store)
            return run("sage-reconstruct", verb, folder, *given, *more)

        server.call = call
        yield server


def test_fetch_continues_reports_and_locks(plan) -> None:
    before = {path.name: path.read_bytes() for path in plan.folder.iterdir()}
    plan.answer("/b", Answer(status=404))
    first = plan.call("fetch", "--json")
    assert first.returncode == 1
    assert json.loads(first.stdout)["outcomes"] == {"gone": 1, "unverified": 2}
    again = plan.call("fetch")
    assert again.returncode == 1
    assert [plan.count(f"/{name}") for name in "abc"] == [1, 1, 1]
    report = plan.call("report")
    assert report.returncode == 1
    assert "| p:b | gone |" in report.stdout
    assert (plan.folder / "report.json").exists()
    plan.answer("/b", Answer(png((1, 2, 3))))
    assert plan.call("fetch", "--retry").returncode == 0
    assert "0 of 3 verified, 3 only recorded" in plan.call("fetch").stdout
    assert plan.call("fetch", "--locked").returncode == 1
    lock = plan.call("lock")
    assert lock.returncode == 0, lock.stderr
    completed = [json.loads(line) for line in (plan.folder / "completed.lock.jsonl").read_text().splitlines()]
    assert all(entry["digests"]["sha256"] and entry["pixels"] and entry["format"] for entry in completed)
    assert {name: (plan.folder / name).read_bytes() for name in before} == before
    assert plan.call("lock", "--replace", "p:zzz").returncode == 2


def test_verify_names_what_was_changed(plan) -> None:
    assert plan.call("fetch").returncode == 0
    assert plan.call("verify").returncode == 0
    assert "3 of 3 images verified" in plan.call("verify").stdout
    victim = next(path for path in plan.store.glob("*/*.png"))
    data = bytearray(victim.read_bytes())
    data[-1] ^= 1
    victim.write_bytes(bytes(data))
    for more in ((), ("--fast",)):
        verified = plan.call("verify", *more)
        assert verified.returncode == 1
        assert "the stored file was changed" in verified.stdout
        assert "expected" in verified.stdout
        assert "to do: run fetch again" in verified.stdout
    assert plan.call("fetch").returncode == 0
    assert plan.call("verify").returncode == 0


def test_what_may_still_come_gives_exit_3(plan) -> None:
    plan.answer("/c", Answer(png((4, 5, 6))[:40], length=100))
    done = plan.call("fetch", "--limit", "2")
    assert done.returncode == 3
    assert "pending" in done.stdout


def test_ctrl_c_stops_with_130_and_what_is_done_is_kept(plan, run) -> None:
    plan.answer("/b", Answer(png((1, 2, 3)), drip=0.2))
    program = Path(sys.executable).with_name("sage-reconstruct")
    process = subprocess.Popen(
        [program, "fetch", plan.folder, "--allow-private", "--store", plan.store],
        stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    end = time.monotonic() + 30
    while not (plan.count("/b") and list(plan.store.glob("*/*.png"))) and time.monotonic() < end:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert not list(plan.store.rglob("*.part"))
    plan.answer("/b", Answer(png((1, 2, 3))))
    assert plan.call("fetch").returncode == 0
    assert plan.count("/a") == 1


def test_kills_at_random_moments_lose_nothing(plan) -> None:
    program = Path(sys.executable).with_name("sage-reconstruct")
    for moment in (0.3, 0.45, 0.6):
        process = subprocess.Popen([program, "fetch", plan.folder, "--allow-private", "--store", plan.store, "--quiet"])
        time.sleep(moment)
        process.kill()
        process.wait()
    assert plan.call("fetch").returncode == 0
    assert plan.call("verify").returncode == 0


def test_planning_twice_is_harmless_and_never_overwrites(run, tmp_path: Path) -> None:
    out = tmp_path / "p"
    assert run("sage-reconstruct", "plan", "kona", "--out", out).returncode == 0
    before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in out.iterdir()}
    again = run("sage-reconstruct", "plan", "kona", "--out", out)
    assert again.returncode == 0
    assert "the same plan" in again.stdout
    other = run("sage-reconstruct", "plan", "kona", "--out", out, "--set", "seed=9")
    assert other.returncode == 2
    assert "another plan" in other.stderr
    assert {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in out.iterdir()} == before


def test_a_completed_lock_is_expected_of_others(run, tmp_path: Path, built_once: Path) -> None:
    shared = built_once / "images.lock.jsonl"
    assert run("sage-reconstruct", "plan", "kona", "--out", tmp_path / "p", "--lock", shared).returncode == 0
    assert '"width":72' in (tmp_path / "p" / "images.lock.jsonl").read_text()
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_text(shared.read_text().replace('"sha256":"', '"sha256":"X', 1))
    refused = run("sage-reconstruct", "plan", "kona", "--out", tmp_path / "q", "--lock", wrong)
    assert refused.returncode == 2
    assert "not a valid lock record" in refused.stderr
    line = json.loads(shared.read_text().splitlines()[0])
    line["digests"]["sha256"] = "0" * 64
    wrong.write_text(json.dumps(line) + "\n")
    refused = run("sage-reconstruct", "plan", "kona", "--out", tmp_path / "q", "--lock", wrong)
    assert refused.returncode == 2
    assert "disagree" in refused.stderr
    assert not (tmp_path / "q").exists()


def test_validate_says_it_with_its_exit_code(run, tmp_path: Path) -> None:
    def write(name: str, text: str) -> Path:
        (tmp_path / name).write_text(text, "utf-8")
        return tmp_path / name

    good = write("good.jsonl", '{"id":1,"question":"몇 시예요?","criteria":"네 시면 10점"}\n')
    bad = write("bad.jsonl", '{"id":1,"question":"","criteria":null}\n{"id":1,"question":"x"}\n')
    warn = write("warn.jsonl", '{"id":1,"question":"끝에 빈칸 ","criteria":"x"}\n')
    empty = write("empty.jsonl", "")
    expected = [(good, 0, 0), (bad, 1, 1), (warn, 0, 1), (empty, 1, 1), (tmp_path / "none.jsonl", 2, 2)]
    for path, plain, strict in expected:
        assert run("hannun", "validate", path).returncode == plain, path
        assert run("hannun", "validate", path, "--strict").returncode == strict, path
    done = run("hannun", "validate", bad)
    assert done.stdout.splitlines()[-1] == f"{bad}: 4 errors, 0 warnings, 0 notes in 2 rows"
    assert run("hannun", "validate", bad, "--quiet").stdout == ""
    document = json.loads(run("hannun", "validate", bad, "--format", "json").stdout)
    assert document["counts"] == {"error": 4, "warning": 0, "note": 0}


def test_a_reader_that_leaves_early_gets_no_traceback(run, tmp_path: Path) -> None:
    path = tmp_path / "many.jsonl"
    path.write_text("".join(f'{{"id":{n},"question":"끝 "}}\n' for n in range(20)) * 40, "utf-8")
    program = Path(sys.executable).with_name("hannun")
    for form in ("text", "json"):
        done = subprocess.run(
            f"set -o pipefail; '{program}' validate '{path}' --format {form} | head -c 1",
            check=False, shell=True, executable="/bin/bash", capture_output=True, text=True,
        )  # fmt: skip
        assert "Traceback" not in done.stderr
        assert "Error" not in done.stderr
        assert done.returncode == 1


@pytest.mark.parametrize("close", ["", ">&-", "2>&-", ">&- 2>&-"])
def test_text_goes_to_any_terminal_and_to_none(tmp_path: Path, close: str) -> None:
    path = tmp_path / "눈.jsonl"
    path.write_text('{"id":1,"question":"끝 "}\n', "utf-8")
    program = Path(sys.executable).with_name("hannun")
    environment = {**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run(
        f"'{program}' validate '{path}' {close}", check=False, shell=True, capture_output=True, env=environment
    )
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr


def test_ctrl_c_in_validate(tmp_path: Path) -> None:
    path = tmp_path / "big.jsonl"
    path.write_text("".join(f'{{"id":{n},"question":"눈이 와요 {n}"}}\n' for n in range(300_000)), "utf-8")
    program = Path(sys.executable).with_name("hannun")
    process = subprocess.Popen([program, "validate", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in errors


def test_options_have_environment_variables(run, tmp_path: Path) -> None:
    environment = {**os.environ, "HANNUN_OUT": str(tmp_path / "p"), "HANNUN_SET": "seed=3"}
    assert run("sage-reconstruct", "plan", "kona", env=environment).returncode == 0
    assert json.loads((tmp_path / "p" / "recipe.json").read_text())["seed"] == 3


def test_list_says_what_there_is(run) -> None:
    assert "kona" in run("hannun", "list").stdout
    listed = json.loads(run("sage-reconstruct", "list", "--json").stdout)
    kona = next(entry for entry in listed if entry["name"] == "kona")
    assert kona["missing"] == []
    entities = next(entry for entry in listed if entry["name"] == "sage-wikidiverse")
    assert [each["name"] for each in entities["missing"]] == ["wikidiverse-candidates", "wikidiverse-entity-images"]
    assert entities["languages"] == ["en"]
    assert {each["name"] for each in entities["sources"] if each["missing"]} == {
        each["name"] for each in entities["missing"]
    }
    assert kona["extras"] == ["kona"]
    assert kona["licences"]["text"]["spdx"] == "Apache-2.0"
    assert {each["licences"]["images"]["redistribution"] for each in listed} == {"allowed", "unknown"}
    verse = next(entry for entry in listed if entry["name"] == "sage-verse")
    pinned = next(each for each in verse["sources"] if each["name"] == "verse-senses")
    assert (pinned["kind"], pinned["bytes"], pinned["digest"][:7]) == ("download", 235524, "sha256:")
    wordings = ["original", "explicit", "neutralized"]
    assert kona["configs"] == [*wordings, *(f"{each}-noto" for each in wordings)]


def test_a_build_never_replaces_what_is_not_a_build(run, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    (mine / "original").mkdir(parents=True)
    (mine / "original" / "thesis.txt").write_text("x")
    (mine / "README.md").write_text("# my project")
    for command, verb in (("hannun", "build"), ("sage-reconstruct", "run")):
        refused = run(command, verb, "kona", "--out", mine)
        assert refused.returncode == 2
        assert "holds other things" in refused.stderr
    assert sorted(path.name for path in mine.rglob("*")) == ["README.md", "original", "thesis.txt"]
    assert (mine / "README.md").read_text() == "# my project"


def test_a_partial_build_does_not_pass_as_the_whole(run, tmp_path: Path) -> None:
    environment = {**os.environ, "HANNUN_HOME": str(tmp_path / "home"), "HF_HOME": str(tmp_path / "hf")}
    partial = run("hannun", "build", "kona", "--limit", "620", env=environment)
    assert partial.returncode == 3, partial.stderr
    assert not (tmp_path / "hf" / "datasets" / "hannun___kona").exists()
    code = "import hannun; print(len(hannun.load_dataset('kona', 'original', split='test')))"
    rows = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment)
    whole = (tmp_path / "home" / "built" / "kona" / "plan" / "instances.jsonl").read_text().splitlines()
    assert int(rows.stdout) == sum('"id":"kona/original/' in line and '"split":"test"' in line for line in whole)


def test_the_lock_of_a_plan_is_never_rewritten(plan) -> None:
    plan.call("fetch")
    refused = plan.call("lock", "--out", plan.folder / "images.lock.jsonl")
    assert refused.returncode == 2
    assert "never rewritten" in refused.stderr


def test_the_systems_refusals_are_named_not_traced(run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for arguments in (
        ["sage-reconstruct", "run", "kona", "--out", tmp_path / "file" / "below"],
        ["hannun", "validate", tmp_path / ("x" * 5000)],
        ["hannun", "build", "kona", "--out", tmp_path / ("x" * 300)],
    ):
        done = run(*arguments)
        assert done.returncode == 2, done.stderr
        assert "Traceback" not in done.stderr


def test_sources_without_a_row_give_no_plan(run, tmp_path: Path) -> None:
    empty = tmp_path / "q.tsv"
    empty.write_text("item\tsense\toriginal\texplicit\tneutralized\texclude\n")
    done = run("sage-reconstruct", "plan", "kona", "--out", tmp_path / "p", "--source", f"kona-queries={empty}")
    assert done.returncode == 2
    assert "no row" in done.stderr
    assert not (tmp_path / "p").exists()


def test_text_is_printed_as_it_is(run, tmp_path: Path) -> None:
    path = tmp_path / "[bold]x.jsonl"
    path.write_text('{"id":":apple:","q":"[red]a[/red]"}\n{"id":":apple:","q":"b"}\n')
    for form in ("text", "json"):
        done = run("hannun", "validate", path, "--format", form)
        assert done.returncode == 1
        assert ":apple:" in done.stdout
        assert "[bold]x.jsonl" in done.stdout
