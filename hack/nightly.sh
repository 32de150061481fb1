#!/usr/bin/env bash
# What a night has the time for: everything, on a cluster of its own. Each step runs, whatever
# became of those before it, and keeps its output in bin/nightly. docs/results/nightly.md then says
# what became of each; benchmarks write their own pages beside it. ONLY='model fuzz' runs these
# steps alone, and writes no page.
set -uo pipefail
cd "$(dirname "$0")/.."

logs=bin/nightly
mkdir -p "$logs"
export FULL=1 RESULTS=$PWD/$logs/results.txt
: >"$RESULTS"
if bin/cluster status >/dev/null 2>&1; then
  echo "nightly: a cluster is up, which is somebody's: make cluster-down" >&2
  exit 1
fi
trap 'bin/cluster down >/dev/null 2>&1' EXIT

failed=0 rows=""
# step NAME COMMAND... runs a command, and notes its last line.
step() {
  local name=$1 outcome=passed begun=$SECONDS
  shift
  if [[ -n ${ONLY:-} && " $ONLY " != *" $name "* ]]; then return; fi
  printf '=== %s: %s\n' "$name" "$*"
  "$@" >"$logs/$name.log" 2>&1 </dev/null || { outcome=failed failed=1; }
  local last
  last=$(grep -v '^[[:space:]]*$' "$logs/$name.log" | tail -1 | cut -c1-300 | sed 's/|/\\|/g')
  printf '=== %s: %s after %d min: %s\n' "$name" "$outcome" $(((SECONDS - begun) / 60)) "$last"
  rows+="| $name | \`${*//$PWD\//}\` | $outcome | $(((SECONDS - begun) / 60)) | $last |"$'\n'
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
if [[ -z ${ONLY:-} ]]; then bin/cluster down >/dev/null 2>&1; fi
step accuracy bench-accuracy
step model make model
step fuzz make fuzz
step mutation make mutation

if [[ -z ${ONLY:-} ]]; then
  {
    printf '# Nightly\n\n- Date: %s\n- Commit: %s\n- Machine: %s cores, Linux %s, %s\n- Command: `make nightly`\n\n' \
      "$(date -u '+%F %R UTC')" "$(git describe --always --dirty --abbrev=12 --exclude='*')" "$(nproc)" "$(uname -r)" "$(go env GOVERSION)"
    printf '| step | command, with FULL=1 | outcome | minutes | last line |\n| --- | --- | --- | --- | --- |\n%s\n' "$rows"
    printf 'Tests that failed once, and passed when they ran alone:\n\n'
    { grep '^flaky: ' "$RESULTS" || echo none; } | sed 's/^flaky: //; s/^/- /'
  } >docs/results/nightly.md
fi
exit "$failed"
