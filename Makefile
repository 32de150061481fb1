# `make` alone lists the targets. hack/tools pins the tools, which the first target that needs them builds into bin/.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-builtin-rules --no-print-directory
.DEFAULT_GOAL := help

# Where the demo and the tests run; see `make help`.
CLUSTER ?= local
KIND_CLUSTER ?= kind
IMAGE_REGISTRY ?= loadtest.dev
IMAGE_TAG ?= dev
# One suite of `make e2e`, by the name of its test function without Test; FULL=1 adds what takes long.
SUITE ?=
FULL ?=

BIN := $(CURDIR)/bin
export PATH := $(BIN):$(PATH)
export CLUSTER IMAGE_REGISTRY IMAGE_TAG FULL
# The same flags in every build and test: Go compiles each package once, and once more for the race detector.
# Debug information takes time, and no debugger reads it.
export CGO_ENABLED := 0
export GOFLAGS := -trimpath -buildvcs=false -gcflags=all=-dwarf=false
# All targets but files in bin/ run each time. So do those that depend on FORCE: go build
# itself finds what is up to date.
.PHONY: FORCE $(shell sed -nE 's/^([a-z][a-z0-9 -]*):($$| .*)/\1/p' $(firstword $(MAKEFILE_LIST)) hack/clusters.mk)

##@ General

help: ## List the targets.
	@awk -f hack/help.awk $(MAKEFILE_LIST)

deps: ## Install the Debian packages that builds and tests need, if any is missing.
	@go -C hack/images run . deps --install $(filter ecosystem,$(SUITE))

clean: ## Remove what was built. Take a local cluster down first.
	rm -rf $(BIN)

##@ Try

#? SERVE=shortener  what is tested: ratelimiter, ratelimiter-racy (it must fail), shortener or tokens
SERVE ?= shortener
try: bin/try ## Run a load test of 20 s on this machine: no cluster, no root, no Docker.
	@bin/try -serve $(SERVE) -html bin/try.html

##@ Build

COMMANDS := $(patsubst cmd/%/,bin/%,$(wildcard cmd/*/))
plugin: bin/kubectl-loadtest ## Build kubectl loadtest into bin/.
build: bin/manager bin/loadworker $(COMMANDS) ## Build the operator, the worker and the command line into bin/.

bin/manager: FORCE
	@hack/compile.sh ./cmd $@
bin/loadworker: FORCE
	@hack/compile.sh ./loadworker $@
$(COMMANDS): bin/%: FORCE
	@hack/compile.sh ./cmd/$* $@
# The plugin's command of that name alone, which compiles sooner.
bin/try: FORCE
	@hack/compile.sh ./hack/try $@
bin/cluster: FORCE
	@go -C hack/cluster build -o $(BIN)/cluster .

# Ours, and those that stand in for official ones where no registry is in reach.
GO_IMAGES := operator worker ratelimiter shortener eventstore tokens counter hostile
# Components of other projects take minutes to build, and are for suites of their own alone.
IMAGES := $(GO_IMAGES) redis nginx postgres pgbouncer kafka redis-exporter postgres-exporter $(if $(FULL),shop) $(if $(filter ecosystem,$(SUITE)),kubectl-loadtest argocd prometheus minio kustomize-controller)$(if $(filter why,$(SUITE)),prometheus metrics-server)
images: ## Build the images as tars into bin/images, without Docker.
	@go -C hack/images run . build --install $(IMAGES)

#? REGISTRY=ghcr.io/me VERSION=1.2.3  where to push, as the user of docker login, and what it is then called
#? KEY=cosign.key  a private key of cosign generate-key-pair, with its password in COSIGN_PASSWORD: all is signed
push: bin/syft ## Build images for amd64 and arm64, and push them, their SBOMs and the operator's chart to a registry.
	@go -C hack/images run . push --registry '$(REGISTRY)' --version '$(VERSION)' $(if $(KEY),--key '$(abspath $(KEY))') $(ARGS)

#? VERSION=1.2.3  what it is called: CHANGELOG.md has a section of that name; a candidate, 1.2.3-rc.1, may have what is unreleased
#? REGISTRY=ghcr.io/me  where the chart takes its images from; KEY=cosign.key signs the sums
release: bin/syft ## Write all files of a release into bin/release/VERSION: images, chart, CRDs, plugin, SBOMs, notes, sums. Pushes nothing.
	@go -C hack/images run . release --version '$(VERSION)' $(if $(REGISTRY),--registry '$(REGISTRY)') $(if $(KEY),--key '$(abspath $(KEY))') $(ARGS)

#? VERSION=1.2.3  of make release; PREVIOUS=COMMIT is upgraded from, without it the last release or a day ago
release-check: ## Install what make release has written, upgrading from the version before with a run under way.
	@RELEASE=$(abspath bin/release/$(VERSION)) $(MAKE) --no-print-directory e2e SUITE=release

sbom: images bin/syft ## Write what is inside each of our images into bin/sbom, as SPDX.
	@mkdir -p bin/sbom; for i in $(GO_IMAGES); do \
		SYFT_CHECK_FOR_APP_UPDATE=false syft scan docker-archive:bin/images/$$i.tar --quiet --source-name $$i --output spdx-json=bin/sbom/$$i.spdx.json && echo "bin/sbom/$$i.spdx.json"; done

generate: bin/controller-gen bin/buf bin/protoc-gen-go bin/protoc-gen-go-grpc bin/crd-ref-docs bin/helm-values-schema-json ## Write deep copies, CRD, RBAC, the pages of docs/reference, the session protocol's code and the charts' schemas.
	controller-gen object paths=./api/...
	controller-gen crd paths=./api/v1beta1 output:crd:dir=config/crd/bases
	go run ./hack/crdtext config/crd/bases/*.yaml
	controller-gen rbac:roleName=loadtest-operator-manager paths=./controllers/... output:rbac:dir=config/rbac
	cp config/crd/bases/*.yaml charts/loadtest-operator/crds/
	buf generate
	hack/docs/reference.sh
	for c in charts/*/; do (cd $$c && helm-values-schema-json --draft 7 --indent 2 --no-additional-properties --use-helm-docs --schema-root.title "Values of $$(basename $$c)"); done

##@ Check

# Its few lines are tested without the race detector and not linted: both would compile Kubernetes anew.
KUBERNETES := ./hack/cluster/kubernetes
MODULES = $(filter-out $(KUBERNETES),$(patsubst %/go.mod,%,$(shell find . -name go.mod -not -path './hack/tools/*' -not -path './hack/bench/peers/*' -not -path './hack/components/*/*' -not -path '*/testdata/*' -not -path './bin/*')))

lint: bin/golangci-lint bin/buf ## Check style, the import rule and the protocol.
	buf lint
	for m in $(MODULES); do (cd $$m && golangci-lint run --config $(CURDIR)/.golangci.yml ./...); done

score: bin/helm bin/kube-score ## Check the rendered charts with kube-score.
	@go run ./hack/score

VULNDB ?= https://vuln.go.dev
#? VULNDB=file:///PATH  a copy of the database of vulnerabilities: data/osv of github.com/golang/vulndb
vulncheck: bin/govulncheck ## Look for known vulnerabilities that our code calls, unless the database is out of reach.
	@if govulncheck -db $(VULNDB) -version | grep -q '^DB updated'; then govulncheck -db $(VULNDB) ./...; \
	else echo "vulncheck: SKIPPED, nothing was checked: $(VULNDB) cannot be read; VULNDB=file:///PATH names a copy" >&2; fi

promise: ## Compare the definitions with those of the last release, by docs/api-promise.md.
	@go -C hack/promise run .

fmt: bin/golangci-lint bin/buf ## Format Go and protobuf files.
	buf format --write
	for m in $(MODULES); do (cd $$m && golangci-lint fmt --config $(CURDIR)/.golangci.yml ./...); done

verify: verify-fast promise lint score vulncheck ## Check that what is generated is committed, and that lint, vet, charts and dependencies give no cause for complaint.

verify-fast: generate ## The part of verify that takes two minutes: what is generated, vet, and the modules' requirements.
	@if [[ -e .git ]]; then git diff --exit-code && test -z "$$(git ls-files --others --exclude-standard | tee /dev/stderr)"; \
	else echo "verify-fast: without .git nothing says whether what is generated is committed: SKIPPED" >&2; fi
	for m in $(MODULES); do go -C $$m vet ./...; done
	for m in $(filter-out ./hack/crds,$(MODULES)); do go -C $$m mod tidy -diff; done # hack/crds requires what it does not import
	go vet -tags e2e ./...

# What starts few goroutines is tested without the race detector as a whole, and with it in the files that say so:
# the tests in which these goroutines run, or what they share is used by several at once. FULL=1: all with it.
RACED = $(shell grep -rl --include='*_test.go' --exclude-dir=bin '^// The race detector looks at the tests of this file' .)
# The packages in which nothing starts a goroutine, so that the race detector would find nothing
# there, and take five to ten times as long: those that decide (the import rules have the
# list), what is measured, tools, and what has no code but its tests, which run programs that are tested elsewhere.
# What takes longest is first, so that the others run beside it.
ALONE = $(patsubst %/,%,$(sort $(dir $(RACED)))) $(shell sed -n '/^var pure/,/^}/p' hack/archtest/rules.go | grep -o '"[^"]*"' | tr -d '"' | sed 's|^|./|') \
	./controllers/loadtest/search/... ./accesslog/... ./expression/... ./selector/... ./pace/... ./measure/... ./text/... ./api/... ./test/world/... ./hack/seeds/... ./hack/docs/... ./hack/archtest/... \
	./cmd/kubectl-loadtest/comparison ./cmd/kubectl-loadtest/draft ./cmd/kubectl-loadtest/report/... ./cmd/kubectl-loadtest/progress ./loadworker/message ./hack/crdtext ./hack/demo/... ./test/e2e/audit \
	./charts/... ./config/... ./deploy/... ./examples/... ./controllers/loadtestschedule ./controllers/loadtest/history ./controllers/writes ./loadworker ./loadworker/targetsfile ./address ./bucket ./instant \
	$(addprefix ./cmd/kubectl-loadtest/,credential document links overview preview templates ui/page) $(addprefix ./loadworker/,cookie failure trace transport/event) \
	./hack/bench/peer ./hack/deploy ./hack/fuzz ./hack/score ./hack/try ./test/e2e/fault ./test/e2e/gotest ./test/e2e/rights ./test/harness ./test/must ./test/same \
	$(addprefix ./targets/,eventstore eventstore/prometheus eventstore/yaml internal/settings ratelimiter ratelimiter/prometheus shortener/prometheus)
# Modules of the same kind.
ALONE_MODULES := ./hack/promise ./hack/crds ./hack/definitions
# What is not built with the race detector, which would change what it measures.
APART = $(shell grep -rl --include='*_test.go' --exclude-dir=bin '^//go:build.*!race' .)
# Tests of this many at once wait for what they wait for beside each other. What hangs says so
# well within the 90 minutes of CI, as does make e2e.
AT_ONCE ?= 8
# Packages of this many at once: with one for each processor, both processors were idle for a
# quarter of the time.
PACKAGES ?= 3
# A test that fails runs again alone, three times. What then passes is named in this file, with
# what became of all tests.
RESULTS ?= $(BIN)/results.txt
# Garbage of eight times what is in use may gather: to collect it sooner takes a third of the time of simulations.
test: export GOGC := 800
# A program with the race detector waits at its end for reports that are being written: by default for a second, which
# each of 150 packages would take.
test: export GORACE := atexit_sleep_ms=50
# verify-fast has vetted all of it.
retest = bin/retest -C $(1) -results $(RESULTS) -- -vet=off -p $(PACKAGES) -parallel $(AT_ONCE) $(if $(FULL),-shuffle=on -count=1) -timeout 20m $(2) --
# The tests of some files.
tests = -run "$$(sed -nE 's/^func (Test[A-Za-z0-9_]+).*/^\1$$/p' $(1) | paste -sd '|')"
bin/retest: FORCE
	@go build -o $@ ./hack/retest

# Other modules' tests read files of this one, which Go's cache of their results does not look at:
# they always run. Kubernetes' own program has no tests, and would be compiled again by other flags than the cluster's.
test: deps bin/helm bin/cluster bin/retest ## Run the tests of all modules, some against a real API server; no cluster needed. FULL=1: in a random order.
	cluster build
	export KUBEBUILDER_ASSETS KAFKA_HOME; KUBEBUILDER_ASSETS=$$(cluster assets); KAFKA_HOME=$$(go -C hack/images run . kafka); \
	$(call retest,.) $(ALONE); \
	CGO_ENABLED=1 $(call retest,.,-race $(if $(FULL),,$(call tests,$(RACED)))) $(sort $(dir $(RACED))); \
	CGO_ENABLED=1 $(call retest,.,-race) $$(comm -23 <(go list ./... | sort) <(go list $(ALONE) | sort)); \
	for m in $(ALONE_MODULES); do $(call retest,$$m,-count=1) ./...; done
	for m in $(filter-out . $(ALONE_MODULES),$(MODULES)); do CGO_ENABLED=1 $(call retest,$$m,-race -count=1) ./...; done
	$(call retest,.,$(call tests,$(APART))) $(sort $(dir $(APART)))
	$(call retest,$(KUBERNETES),-shuffle=on) $$(go -C $(KUBERNETES) list -f '{{with or .TestGoFiles .XTestGoFiles}}{{$$.ImportPath}}{{end}}' ./...)

#? ARGS  flags of the checker, such as -seeds 5000 -seed 100; FULL=1: each fault before every event, which takes half an hour on two processors
model: ## Check the decisions about a run against faults at the instants of simulated runs.
	@go test -v -count=1 -timeout 0 ./test/world -args $(if $(FULL),-every 1 -seeds 5000,-every 11 -seeds 500) $(ARGS) | awk '/^model:/ {line = $$0} /^ok|^=== |--- PASS|^PASS|^model:/ {next} {print; fflush()} END {print line}'

#? ARGS  folders of the packages to change (default: all pure ones), after flags: -lived names what no test notices, -sample 200 bounds what is tried of each, -workers 1
mutation: ## Change the pure packages in one place at a time, and count the changes that their tests notice.
	@go run ./hack/mutation $(ARGS)

#? FUZZTIME  how long each target runs (10s); FULL=1: a minute each, and on until they had ten million executions together
FUZZTIME ?= $(if $(FULL),1m,10s)
fuzz: ## Run every fuzz target, one after another, for FUZZTIME.
	@go run ./hack/fuzz -time $(FUZZTIME) $(if $(FULL),-executions 10000000)

nightly: ## Run all that a night has the time for, and write what became of it to docs/results/nightly.md; as root.
	@hack/nightly.sh

##@ Cluster
#? CLUSTER=local    three nodes on this machine, from source, as root (default)
#? CLUSTER=kind     the kind cluster that KIND_CLUSTER names; images are loaded into it
#? CLUSTER=current  the current context of the kubeconfig; it pulls
#?                  IMAGE_REGISTRY/NAME:IMAGE_TAG, which you push before: make push ARGS='NAME...',
#?                  NAME being operator, worker, ratelimiter, shortener, eventstore, tokens, counter and hostile

cluster-up: cluster-up-$(CLUSTER) ## Start the cluster; again on a running one does nothing.
cluster-down: cluster-down-$(CLUSTER) ## Take the local cluster down, leaving nothing behind.
include hack/clusters.mk

# The network is slow and the processors are not busy with it: what all parts of the demo need is
# downloaded while bin/cluster is compiled, which needs little of it, and then Helm.
download:
	@for m in hack/tools/helm . hack/images hack/cluster/kubernetes; do go -C $$m list -deps tool ./... >/dev/null 2>&1 & done
demo: IMAGES := operator worker ratelimiter redis nginx
demo: download bin/cluster bin/helm $(COMMANDS) cluster-ready ## Bring everything up, run the rate limiter's scenarios and judge them.
	@$(in_$(CLUSTER)) go run ./hack/demo

#? ARGS  flags of make seeds: -only 004 for a part, -plan to see what would run, -repetitions 1 instead of 5
seeds: bin/helm $(COMMANDS) cluster-ready ## Run the published experiments again, scaled to two cores; goes on where it was interrupted.
	@$(in_$(CLUSTER)) go run ./hack/seeds $(ARGS)
seeds-report: bin/cluster ## Write docs/results/seed-00N.md from the results of make seeds; no cluster needed.
	@PATH=$$(cluster assets):$$PATH go run ./hack/seeds -report $(ARGS)

#? SUITE=ecosystem  Argo CD and others, in no other run: builds each once, which takes minutes
#? SUITE=why  what is said of a target at its limits; likewise
#? PREVIOUS=COMMIT  with SUITE=ecosystem: the version before, to upgrade from; default: the last release, or a day ago
# With -p 2 go test builds a package while the one before it is tested: they wait for each other. Its time limit
# counts the waiting, so that with FULL=1 one package comes after the other. What the operator may do is compared
# with what it did when all tests are over.
e2e: deps bin/helm bin/retest $(COMMANDS) cluster-ready ## Run the cluster tests, or one suite of them: SUITE=name. FULL=1: all, and with all faults.
	@export SUITE='$(SUITE)' $(in_$(CLUSTER)); since=$$(go run ./test/e2e/operator install); \
	in=$$(grep -rlE $(if $(SUITE),-i) --include='*_test.go' '^$(if $(SUITE),func Test$(firstword $(subst /, ,$(SUITE)))\>,//go:build e2e)' test/e2e | xargs -r dirname | sort -u | sed 's|^|./|') || \
		{ echo 'there is no suite $(SUITE)' >&2; exit 1; }; \
	{ code=0; bin/retest -v -results $(RESULTS) -- -tags e2e -p $(if $(FULL),1,2) -count=1 -vet=off -parallel 6 -timeout $(if $(FULL),90m,30m) $(if $(SUITE),-run '(?i)^Test$(SUITE)$$') -- $$in || code=1; \
	go run ./test/e2e/operator rights "$$since" || code=1; exit $$code; } | awk -v suite='$(SUITE)' -f test/e2e/summary.awk

#? DURATION  for how long the soak creates LoadTests; it takes five minutes more
#? ARGS=-seed=N  the order of actions of an earlier soak
DURATION ?= 15m
soak: bin/helm cluster-ready ## Create, change and delete 200 LoadTests in a random order with faults, and look for leaks.
	@export DURATION=$(DURATION) $(in_$(CLUSTER)); go run ./test/e2e/operator install; \
	go test -tags e2e -count=1 -v -timeout 90m -run '^TestSoak$$' ./test/e2e/faults -args $(ARGS) | \
		tee /dev/stderr | awk '/^soak: runs=/ {last = $$0} END {print last}' # awk may read no line before the last

test-cluster: bin/cluster ## Test the local cluster itself, from up to down; as root, with none running.
	cluster up --install && cluster down # installs what the test needs
	go -C hack/cluster test -tags cluster -count=1 -timeout 20m ./test

##@ Measure
#? ARGS  flags of a benchmark: --rounds 1 --duration 15s for a quick look, --record to keep it

bench-worker: ## Measure what a request, a call and a user cost, beside wrk, h2load, ghz, k6 and others.
#? ARGS='-before COMMIT'  what is measured beside this tree
bench-change: ## Measure what a request costs beside what it cost at another commit, in turn.
bench-accuracy: ## Measure how true quantiles and a stall are over each protocol, and the schedule.
bench-scale: ## Drive 100,000 users on this machine.
bench-targets: ## Measure what the targets' services cost, beside a bare handler.
bench-replay: ## Replay a log at speeds 1 and 5, by the target's clock; ARGS=--full: 10 million requests.
bench-shop: ## Measure purchases in a shop, as a LoadTest, a script of k6 and a file of Locust.
bench-streams: ## Measure how true the times of events of streams are, and what an open stream costs.
bench-tokens: ## Search for the known capacity of the stand-in of a language model, in 9 minutes.
bench-worker bench-change bench-accuracy bench-scale bench-targets bench-replay bench-shop bench-streams bench-tokens: bench-%:
	@go run ./hack/bench $* $(ARGS)
bench-peers: IMAGES := operator worker shortener postgres groundtruth k6-operator k6 locust
bench-peers: bin/helm cluster-ready ## Run the same load by k6-operator, by Locust and by this operator in the local cluster, in 10 minutes.
	@$(in_$(CLUSTER)) go run ./hack/bench peers $(ARGS)
bench-operator: bin/cluster ## Run 50 LoadTests at once beside 1,000 finished ones: at most 200 MB, and 50 KB/s a run.
	@cluster build
	@KUBEBUILDER_ASSETS=$$(cluster assets) go run ./hack/bench operator $(ARGS)

bench-start: bin/cluster ## Start the operator beside 1,000 LoadTests and 1,000 schedules of 1.2 MB.
	@cluster build
	@KUBEBUILDER_ASSETS=$$(cluster assets) go run ./hack/bench start $(ARGS)

bench-merge: ## Measure what 1,000 workers' snapshots cost the operator a second: at most 50 ms.
	@go test -run '^$$' -bench 'Second/(1e4|32x312)' -count 9 ./controllers/coordinator | tee /dev/stderr | awk -f hack/bench/merge.awk

bench-queue: ## Simulate a day of twenty namespaces in the queue, one of which does its worst.
	@go test -count 1 -run 'TestANamespaceThatDoesItsWorst|TestRunsThatCannotStart' -v ./controllers/loadtest/queue | grep -o 'queue: .*'

bench-trend: ## Simulate histories of runs, and count the changes of their level that are found, and those that are none.
	@go test -count 1 -run TestSimulatedHistories -v ./controllers/judge/changepoint | grep -o 'trend: .*'
bench-compare: ## Simulate pairs of runs, and count the comparisons that mark a difference where there is none, and where there is one.
	@go test -count 1 -run TestSimulatedComparisons -v ./cmd/kubectl-loadtest/comparison | grep -o 'compare: .*'

bench-definitions: ## Print what the resources' definitions cost an API server: bytes as JSON, and the rules' estimated cost.
	@go -C hack/definitions run . $(CURDIR)/config/crd/bases/*.yaml

bench-status: bin/kubectl-loadtest ## Print how large a finished LoadTest of 20 steps and 10 requests is: at most 300 KB.
	@{ kubectl-loadtest run --local --serve ratelimiter -f hack/bench/status.yaml -o json 2>/dev/null || test $$? -lt 4; } | \
		awk '{sub(/^ */, ""); n += length($$0)} END {printf "bench-status: steps=20 requests=10 kb=%.0f\n", n / 1000}' # as the store has it

SIMULATIONS ?= 1000
bench-judgement: ## Simulate SIMULATIONS runs with known truths, and count the wrong judgements.
	@SIMULATIONS=$(SIMULATIONS) go test -count=1 -json -timeout 90m -run '^TestSimulated' \
		./loadworker/attack ./controllers/loadtest/search ./controllers/judge/verdict | awk -f hack/bench/judgement.awk

bench-search: ## Search for the known limits of five targets on this machine, by real workers.
	@FULL=1 go test -count=1 -v -parallel 5 -timeout 40m -run '^TestSearchFindsKnownKnees$$' ./cmd/kubectl-loadtest/local

# Each tool is the one `tool` of its own module; a change of that module, and
# nothing else, builds it again.
bin/%: hack/tools/%/go.mod hack/tools/%/go.sum
	@echo "building $* (once, up to minutes)"
	@hack/compile.sh tool $@ hack/tools/$* && touch $@
# hack/cluster/build has why calls of these are not inlined.
bin/helm: export GOFLAGS += $(patsubst %,'-gcflags=%/...=-l -dwarf=false',k8s.io/cli-runtime k8s.io/kubectl sigs.k8s.io/kustomize github.com/russross helm.sh github.com/ProtonMail github.com/cloudflare oras.land github.com/Masterminds github.com/lib)
