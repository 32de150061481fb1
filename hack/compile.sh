#!/usr/bin/env bash
# compile.sh PACKAGE FILE [FOLDER] compiles a program of the module in FOLDER, by default this one, and
# says how far it is if that takes long: in one line on a terminal, else a line for each tenth.
set -euo pipefail
cd "$(dirname "$0")/.."
package=$1 file=$PWD/$2 in=${3:-.}
say() { awk -v terminal="$([[ -t 2 ]] && echo yes)" -v total="${1:-0}" -f hack/compile.awk >&2; }

# What is not compiled yet, after a download of the modules that are missing.
stale=$({ go -C "$in" list -deps -f '{{if .Stale}}{{.ImportPath}}{{end}}' "$package" 3>&1 1>&4 2>&3 | say; } 4>&1)
go -C "$in" build -v -ldflags="-s -w" -o "$file" "$package" 2>&1 | say "$(wc -w <<<"$stale")"
