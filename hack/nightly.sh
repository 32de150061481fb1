#!/usr/bin/env bash
# What a night has the time for: everything, on a cluster of its own. Each step runs, whatever
# became of those before it, keeps its output in bin/nightly, and writes its row of
# docs/results/nightly.md: what became of it, when and of which commit. Benchmarks write their own
# pages beside it. ONLY='model fuzz' runs these steps alone; the rows of the others stay.
set -uo pipefail
cd "$(dirname "$0")/.."

logs=$PWD/bin/nightly page=docs/results/nightly.md
mkdir -p "$logs"
export FULL=1
if bin/cluster status >/dev/null 2>&1; then
  echo "nightly: a cluster is up, which is somebody's: make cluster-down" >&2
  exit 1
fi
trap 'bin/cluster down >/dev/null 2>&1' EXIT

# write puts the row of a step into the page, in the order of the steps.
steps=$(sed -nE 's/^step ([a-z0-9-]+) .*/\1/p' hack/nightly.sh)
write() {
  local rows
  rows=$({ grep '^| [a-z]' "$page" 2>/dev/null | grep -v "^| step \|^| $1 "; echo "$2"; })
  {
    printf '# Nightly\n\n- Machine: %s cores, Linux %s, %s\n' "$(nproc)" "$(uname -r)" "$(go env GOVERSION)"
    printf -- '- Command: `make nightly`; a step alone: `ONLY=model make nightly`\n\n'
    printf 'A flaky test failed once, and passed when it ran alone.\n\n'
    printf '| step | command, with FULL=1 | begun, at commit | minutes | outcome | flaky | last line |\n| --- | --- | --- | --- | --- | --- | --- |\n'
    for s in $steps; do grep "^| $s " <<<"$rows"; done
  } >"$page.new"
  mv "$page.new" "$page"
}

failed=0
commit=$(git describe --always --dirty --abbrev=12 --exclude='*')
# step NAME COMMAND... runs a command, and notes its last line.
step() {
  local name=$1 outcome=passed begun=$SECONDS at
  shift
  if [[ -n ${ONLY:-} && " $ONLY " != *" $name "* ]]; then return; fi
  at=$(date -u '+%F %R UTC')
  printf '=== %s: %s\n' "$name" "$*"
  export RESULTS=$logs/$name.results
  : >"$RESULTS"
  "$@" >"$logs/$name.log" 2>&1 </dev/null || { outcome=failed failed=1; }
  local last flaky minutes=$(((SECONDS - begun) / 60))
  last=$(grep -v '^[[:space:]]*$' "$logs/$name.log" | tail -1 | cut -c1-300 | sed 's/|/\\|/g')
  flaky=$(sed -n 's/^flaky: //p' "$RESULTS" | sort -u | paste -sd ' ')
  printf '=== %s: %s after %d min: %s\n' "$name" "$outcome" "$minutes" "$last"
  write "$name" "| $name | \`${*//$PWD\//}\` | $at, $commit | $minutes | $outcome | ${flaky:-none} | $last |"
}

# accuracy records how true quantiles, a stall and the pace are, and fails where one is off by more
# than its floor: the recorded errors are a tenth of these.
bench-accuracy() {
  make bench-accuracy ARGS=--record && awk '/^bench-accuracy:/ {line = $0}
    END {
      n = split(line, fields, " ")
      for (i = 2; i <= n; i++) {
        split(fields[i], figure, "=")
        most = figure[1] ~ /stall/ ? 5 : 1
        if (figure[2] + 0 > most) { printf "%s is more than %d%%\n", fields[i], most; bad = 1 }
      }
      print line
      exit bad || n < 4
    }' "$logs/accuracy.log"
}

step test make test
step test-cluster make test-cluster
step e2e make e2e
step ecosystem make e2e SUITE=ecosystem
step why make e2e SUITE=why
bin/cluster down >/dev/null 2>&1
step accuracy bench-accuracy
step model make model
step fuzz make fuzz
step mutation make mutation
exit "$failed"
