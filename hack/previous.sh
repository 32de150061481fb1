#!/usr/bin/env bash
# Builds the images of operator and worker of an earlier commit, with the tag previous, and copies its
# chart: usage: previous.sh FOLDER [COMMIT]. Without a commit it is the last release, or while there
# is none the commit of a day ago.
set -euo pipefail
out=$1
cd "$(dirname "$0")/.."
commit=${2:-$(git describe --tags --abbrev=0 2>/dev/null || git rev-list -1 --before='1 day ago' HEAD)}
tree=$(mktemp -d)
trap 'git worktree remove --force "$tree"' EXIT
git worktree add --quiet --detach "$tree" "$commit"
sed -i 's/":dev"/":previous"/' "$tree/hack/images/recipe/recipe.go"
mkdir -p "$out"
go -C "$tree/hack/images" run . build --out "$out" operator worker >&2
cp -r "$tree/charts/loadtest-operator" "$out/chart"
git rev-parse "$commit"
