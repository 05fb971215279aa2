#!/bin/sh
# Writes run.lock, test.lock and bench.lock from pyproject.toml: exact versions with hashes, for every platform.
set -eu
cd "$(dirname "$0")/.."
compile() {
    uv pip compile pyproject.toml requirements/build.in "$@" --universal --generate-hashes --python-version 3.11 \
        --no-emit-index-url --no-annotate --custom-compile-command "make lock" --quiet
}
compile --extra features --extra large -o requirements/run.lock
compile --extra research --extra dask --extra postgres --extra features --extra large --extra notebook --group test -c requirements/run.lock -o requirements/test.lock
compile --extra research --group bench -c requirements/run.lock -o requirements/bench.lock
