#!/usr/bin/env bash
# Writes the pages of docs/reference from the types and the source; make generate runs it.
set -euo pipefail
cd "$(dirname "$0")/../.."

# page PACKAGE PAGE TITLE TYPE: the type is what the page begins at.
page() {
  crd-ref-docs --max-depth 15 --log-level ERROR --source-path "$PWD/$1" --config hack/docs/reference.yaml --templates-dir hack/docs/templates \
    --renderer markdown --template-value title="$3" --template-value begin="$4" --output-path "docs/reference/$2.md"
}

page api/v1beta1 api "The API: LoadTest and LoadTestSchedule" LoadTestSpec
page api/config/v1alpha1 configuration "The operator's configuration" OperatorConfiguration

go run ./hack/docs/messages
