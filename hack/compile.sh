#!/usr/bin/env bash
# compile.sh PACKAGE FILE compiles a program, and says how far it is if that takes long: in one line
# on a terminal, else a line for each tenth.
set -euo pipefail
package=$1 file=$2
say() { awk -v terminal="$([[ -t 2 ]] && echo yes)" -v total="${1:-0}" -f "$(dirname "$0")/compile.awk" >&2; }

# What is not compiled yet, after a download of the modules that are missing.
stale=$({ go list -deps -f '{{if .Stale}}{{.ImportPath}}{{end}}' "$package" 3>&1 1>&4 2>&3 | say; } 4>&1)
go build -v -o "$file" "$package" 2>&1 | say "$(wc -w <<<"$stale")"
