#!/usr/bin/env bash
# Installs what some tests need from Debian's packages: Chromium and PostgreSQL. Elsewhere it only says what is missing;
# the tests that need them are then skipped by name (and fail under CI=true). Node.js serves only the type check of the
# page's scripts and is large, so it is installed only where that check must run.
set -u
missing=()
command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || missing+=(chromium)
command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || missing+=(postgresql)
command -v strace >/dev/null || missing+=(strace)
[ "${CI:-}" != true ] || { command -v node >/dev/null && command -v npm >/dev/null; } || missing+=(nodejs npm)
[ ${#missing[@]} -eq 0 ] && exit 0
if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    echo "Installing for the tests: ${missing[*]}"
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${missing[@]}" >/dev/null && exit 0
fi
echo "Not found: ${missing[*]}. Tests that need them will be skipped by name; install them to run everything."
exit 0
