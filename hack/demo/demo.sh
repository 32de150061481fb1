#!/usr/bin/env bash
# What make demo runs; see doc.go for the variables.
set -euo pipefail
cd "$(dirname "$0")/../.."
exec go run -trimpath -buildvcs=false ./hack/demo
