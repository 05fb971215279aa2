#!/bin/sh
# Checks the types of the labelling page's JavaScript. The page itself needs neither Node nor TypeScript, so a machine
# without them only misses this check; under CI=true it has to run.
set -eu
cd "$(dirname "$0")/../.."
tools=requirements/js

skip() {
    if [ "${CI:-}" = true ]; then
        echo "Under CI=true the JavaScript type check must run: $1." >&2
        exit 1
    fi
    echo "JavaScript type check skipped: $1."
    exit 0
}

command -v node >/dev/null && command -v npm >/dev/null || skip "Node.js is not installed"
if [ ! "$tools/node_modules/.package-lock.json" -nt "$tools/package-lock.json" ]; then
    npm ci --prefix "$tools" --silent || skip "npm could not install TypeScript"
fi
"$tools/node_modules/.bin/tsc" --project jsconfig.json
