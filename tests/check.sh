#!/bin/sh
# Lint the tree, then check types and floors over the installed wheel: a non-editable install shows what users get.
set -eu
python=$1
venv=.check-venv
rm -rf build "$venv" .check-dist ./*.egg-info
"$python" -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --upgrade pip
"$venv/bin/python" -m pip wheel --quiet --no-deps --wheel-dir .check-dist .
rm -rf build ./*.egg-info
"$venv/bin/python" -m pip install --quiet "$(echo .check-dist/hannun-*.whl)[kona,sage,scores,similar,croissant,dev]"
"$venv/bin/ruff" format --check .
"$venv/bin/ruff" check .
root=$PWD
# From an empty folder, so that nothing of the tree stands in for what is installed.
empty=$(mktemp -d)
trap 'rm -rf "$empty" "$root/.check-dist"' EXIT
cd "$empty"
"$root/$venv/bin/mypy" --config-file "$root/pyproject.toml" -p hannun
"$root/$venv/bin/lint-imports" --config "$root/pyproject.toml" --no-logo
