# `make` alone lists the targets. Tools are pinned by the modules under
# hack/tools and built into bin/ by the first target that needs them.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-builtin-rules --no-print-directory
.DEFAULT_GOAL := help

# Where the demo and the tests run; see `make help`.
CLUSTER ?= local
KIND_CLUSTER ?= kind
IMAGE_REGISTRY ?= loadtest.dev
IMAGE_TAG ?= dev
# One suite of `make e2e`, by the name of its test function without Test; FULL=1
# adds what takes long.
SUITE ?=
FULL ?=
ifeq ($(filter $(CLUSTER),local kind current),)
$(error CLUSTER=$(CLUSTER) is none of local, kind and current)
endif

BIN := $(CURDIR)/bin
export PATH := $(BIN):$(PATH)
export CLUSTER IMAGE_REGISTRY IMAGE_TAG FULL
# The same flags in every build and test: Go then compiles each package once.
# The race detector needs CGO_ENABLED=1, and compiles each once more.
export CGO_ENABLED := 0
export GOFLAGS := -trimpath -buildvcs=false
# All targets but files in bin/ run each time. So do those that depend on FORCE: go build
# itself knows what is up to date.
.PHONY: FORCE $(shell sed -nE 's/^([a-z][a-z0-9 -]*):($$| .*)/\1/p' $(firstword $(MAKEFILE_LIST)))

##@ General

help: ## List the targets.
	@awk 'BEGIN {FS = ":.*## "; print "Usage: make <target> [VARIABLE=value]"} \
		/^##@/ {printf "\n%s\n", substr($$0, 5)} \
		/^[a-z0-9-]+:.*## / {printf "  %-14s %s\n", $$1, $$2} \
		/^#\? / {printf "  %s\n", substr($$0, 4)}' $(MAKEFILE_LIST)

# A command that is needed, and the Debian package that has it.
DEBIAN := gcc:gcc nginx:nginx-light redis-server:redis-server mmdebstrap:mmdebstrap pgbouncer:pgbouncer \
	/usr/lib/postgresql/15/bin/postgres:postgresql-15 chromium-headless-shell:chromium-headless-shell promtool:prometheus h2load:nghttp2-client java:openjdk-17-jre-headless mvn:maven
deps: ## Install the Debian packages that builds and tests need, if any is missing.
	@missing=$$(for d in $(DEBIAN); do command -v $${d%:*} >/dev/null || echo -n "$${d#*:} "; done; \
		test -e /etc/ssl/certs/ca-certificates.crt || echo -n ca-certificates; \
		test -e /usr/include/stdlib.h || echo -n " libc6-dev"); \
	test -n "$$missing" || exit 0; \
	if test $$(id -u) != 0 || ! command -v apt-get >/dev/null; then \
		echo "missing: $$missing; install with: sudo apt-get install $$missing" >&2; exit 1; fi; \
	export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1; \
	apt-get update -qq && apt-get install -y -qq --no-install-recommends $$missing

clean: ## Remove what was built. Take a local cluster down first.
	rm -rf $(BIN)

##@ Try

#? SERVE=shortener  what is tested: ratelimiter, ratelimiter-racy (it must fail) or shortener
SERVE ?= shortener
try: bin/kubectl-loadtest ## Run a load test of 20 s on this machine: no cluster, no root, no Docker.
	@kubectl-loadtest try --serve $(SERVE) --html bin/try.html

##@ Build

COMMANDS := $(patsubst cmd/%,bin/%,$(wildcard cmd/*))
build: bin/manager bin/loadworker $(COMMANDS) ## Build the operator, the worker and the command line into bin/.

bin/manager: FORCE
	go build -o $@ .
bin/loadworker: FORCE
	go build -o $@ ./loadworker
$(COMMANDS): bin/%: FORCE
	go build -o $@ ./cmd/$*
bin/cluster: FORCE
	@go -C hack/cluster build -o $(BIN)/cluster .

# Ours, and those that stand in for official ones where no registry is in reach.
GO_IMAGES := operator worker ratelimiter shortener eventstore counter hostile
# Components of other projects take minutes to build, and are for one suite alone.
IMAGES := $(GO_IMAGES) redis nginx postgres pgbouncer kafka redis-exporter postgres-exporter $(if $(filter ecosystem,$(SUITE)),kubectl-loadtest argocd prometheus minio)
images: deps ## Build the images as tars into bin/images, without Docker.
	@go -C hack/images run . build $(IMAGES)

#? REGISTRY=ghcr.io/me VERSION=1.2.3  where to push, as the user of docker login, and what it is then called
push: ## Build images for amd64 and arm64, and push them and the operator's chart to a registry.
	@go -C hack/images run . push --registry '$(REGISTRY)' --version '$(VERSION)' $(ARGS)

sbom: images bin/syft ## Write what is inside each of our images into bin/sbom, as SPDX.
	@mkdir -p bin/sbom; for i in $(GO_IMAGES); do \
		SYFT_CHECK_FOR_APP_UPDATE=false syft scan docker-archive:bin/images/$$i.tar --quiet --source-name $$i --output spdx-json=bin/sbom/$$i.spdx.json; \
		echo "bin/sbom/$$i.spdx.json"; done

generate: bin/controller-gen bin/buf bin/protoc-gen-go bin/protoc-gen-go-grpc bin/crd-ref-docs ## Write deep copies, CRD, RBAC, the API reference and the session protocol's code.
	controller-gen object paths=./api/...
	controller-gen crd paths=./api/v1alpha1 output:crd:dir=config/crd/bases
	controller-gen rbac:roleName=loadtest-operator-manager paths=./controllers/... output:rbac:dir=config/rbac
	mkdir -p charts/loadtest-operator/crds
	cp config/crd/bases/*.yaml charts/loadtest-operator/crds/
	buf generate
	$(call reference,api/v1alpha1,api,The API: LoadTest and LoadTestSchedule,LoadTestSpec)
	$(call reference,api/config/v1alpha1,configuration,The operator's configuration,OperatorConfiguration)

# A page of docs/reference: a package, the page, its title and the type to begin at.
reference = crd-ref-docs --log-level ERROR --source-path $(CURDIR)/$(1) --config hack/docs/reference.yaml --templates-dir hack/docs/templates \
	--renderer markdown --template-value title="$(3)" --template-value begin=$(4) --output-path docs/reference/$(2).md

docs: ## Render docs/ as static pages into bin/docs.
	@go run ./hack/docs

##@ Check

# Kubernetes itself is compiled for its module: its few lines are tested
# without the race detector and not linted, as both would compile it anew.
KUBERNETES := ./hack/cluster/kubernetes
MODULES = $(filter-out $(KUBERNETES),$(patsubst %/go.mod,%,$(shell find . -name go.mod -not -path './hack/tools/*' -not -path './hack/bench/peers/*' -not -path './hack/components/*/*' -not -path './bin/*')))

lint: bin/golangci-lint bin/buf ## Check style, the import rule and the protocol.
	buf lint
	for m in $(MODULES); do (cd $$m && golangci-lint run --config $(CURDIR)/.golangci.yml ./...); done

# Charts as they are by default and with everything on. What is ignored, and why:
#   container-image-pull-policy     a tag is a version, and a pod starts while the registry is away
#   cpu limit                       a throttled operator starts steps late, a throttled target is measured as slow
#   …-host-podantiaffinity          topology spread constraints do it, and also over zones
#   pod-networkpolicy               ours are about ingress: the API server, which the operator calls, is no peer that a
#                                   policy can name, and the doors of targets are open; tests of the charts hold the rest
# For the operator's workers, whose pods are in no chart: networkpolicy-targets-pod.
# For targets, besides:
#   container-ephemeral-storage-…   stores without a volume are bounded by the node: limits would evict what is measured
#   deployment-replicas, -strategy  one Redis or Nginx is what the experiments have, and two would not share their data
#   pod-probes, -identical          a store is ready when it listens, which the startup probe has seen
#   statefulset-has-servicename     their one pod is called by its Service, not by its own name
#   container-security-context-user-group-id  the users of the images of Postgres and the broker
SCORE := kube-score score - --kubernetes-version v1.34 --output-format ci --exit-one-on-warning --ignore-container-cpu-limit
SCORE_ALL := container-image-pull-policy,deployment-has-host-podantiaffinity,statefulset-has-host-podantiaffinity,pod-networkpolicy
SCORE_TARGETS := $(SCORE_ALL),container-ephemeral-storage-request-and-limit,deployment-replicas,deployment-strategy,pod-probes,pod-probes-identical,statefulset-has-servicename,container-security-context-user-group-id
EVERYTHING_OPERATOR := watchNamespaces={a,b},networkPolicy.workers.enabled=true,metrics.serviceMonitor.enabled=true,metrics.prometheusRule.enabled=true,metrics.dashboard.enabled=true,priorityClassName=high
EVERYTHING_TARGETS := shortener.enabled=true,shortener.replicas=2,shortener.nginx.enabled=true,shortener.connections=pgbouncer,shortener.cache.enabled=true,shortener.clicks.mode=kafka,shortener.seed.rows=1000,eventstore.enabled=true,exporters.redis.enabled=true,exporters.postgres.enabled=true,ratelimiter.service.grpcPort=9090,eventstore.service.grpcPort=9090
score: bin/helm bin/kube-score ## Check the rendered charts with kube-score.
	@score() { helm template scored charts/$$1 --namespace scored --kube-version 1.34 --set "$$2" | $(SCORE) --ignore-test $$3 | { grep -vE '^\[(OK|SKIPPED)\]' && exit 1 || true; }; }; \
	score loadtest-operator '' $(SCORE_ALL); \
	score loadtest-operator '$(EVERYTHING_OPERATOR)' $(SCORE_ALL),networkpolicy-targets-pod; \
	score targets '' $(SCORE_TARGETS); \
	score targets '$(EVERYTHING_TARGETS)' $(SCORE_TARGETS); \
	echo "score: nothing to mend"

VULNDB ?= https://vuln.go.dev
#? VULNDB=file:///PATH  a copy of the database of vulnerabilities: data/osv of github.com/golang/vulndb
vulncheck: bin/govulncheck ## Look for known vulnerabilities that our code calls, unless the database is out of reach.
	@if govulncheck -db $(VULNDB) -version | grep -q '^DB updated'; then govulncheck -db $(VULNDB) ./...; \
	else echo "vulncheck: SKIPPED, nothing was checked: $(VULNDB) cannot be read; VULNDB=file:///PATH names a copy" >&2; fi

fmt: bin/golangci-lint bin/buf ## Format Go and protobuf files.
	buf format --write
	for m in $(MODULES); do (cd $$m && golangci-lint fmt --config $(CURDIR)/.golangci.yml ./...); done

verify: generate lint score vulncheck ## Check that what is generated is committed, and that lint, vet, charts and dependencies give no cause for complaint.
	for m in $(MODULES); do go -C $$m vet ./...; done
	go vet -tags e2e ./...
	git diff --exit-code
	@untracked=$$(git ls-files --others --exclude-standard); \
		test -z "$$untracked" || { echo "untracked files:" $$untracked >&2; exit 1; }

test: deps bin/helm bin/cluster ## Run the tests of all modules, some against a real API server; no cluster needed.
	cluster build
	export KUBEBUILDER_ASSETS KAFKA_HOME; KUBEBUILDER_ASSETS=$$(cluster assets); KAFKA_HOME=$$(go -C hack/images run . kafka); \
	for m in $(MODULES); do CGO_ENABLED=1 go -C $$m test -race -shuffle=on -timeout 20m ./...; done
	go test -run 'Allocates?Nothing' ./loadworker/attack ./loadworker/transport/http1 # what the race detector allocates is not theirs
	go -C $(KUBERNETES) test -vet=off -shuffle=on ./... # vet would read the facts of all of Kubernetes

#? ARGS  flags of the checker, such as -seeds 5000 -seed 100; FULL=1: each fault before every event, which takes half an hour on two processors
model: ## Check the decisions about a run against faults at the instants of simulated runs.
	@go test -v -count=1 -timeout 0 ./controllers/lifecycle/model -args $(if $(FULL),-every 1 -seeds 5000,-every 11 -seeds 500) $(ARGS) | awk '/^model:/ {line = $$0} /^ok|^=== |--- PASS|^PASS|^model:/ {next} {print} END {print line}'

#? ARGS  folders of the packages to change (default: all pure ones, which takes an hour), after -workers 1 on a busy machine
mutation: bin/gremlins ## Change an operator at a time in the pure packages, and count the changes that their tests notice.
	@go run ./hack/mutation $(ARGS)

#? FUZZTIME  how long each target runs (10s); FULL=1: a minute each, and on until they had ten million executions together
FUZZTIME ?= $(if $(FULL),1m,10s)
fuzz: ## Run every fuzz target, one after another, for FUZZTIME.
	@go run ./hack/fuzz -time $(FUZZTIME) $(if $(FULL),-executions 10000000)

##@ Cluster
#? CLUSTER=local    three nodes on this machine, from source, as root (default)
#? CLUSTER=kind     the kind cluster that KIND_CLUSTER names; images are loaded into it
#? CLUSTER=current  the current context of the kubeconfig; it pulls
#?                  IMAGE_REGISTRY/NAME:IMAGE_TAG, NAME being operator, worker, ratelimiter,
#?                  shortener, eventstore, counter and hostile, which you push after docker build --target NAME .

cluster-up: cluster-up-$(CLUSTER) ## Start the cluster; again on a running one does nothing.
cluster-down: cluster-down-$(CLUSTER) ## Take the local cluster down, leaving nothing behind.
cluster-up-local: bin/cluster
	cluster up --install
cluster-down-local: bin/cluster
	cluster down
cluster-up-kind:
	@kind get clusters | grep -qx '$(KIND_CLUSTER)' || \
		{ echo "no kind cluster $(KIND_CLUSTER): run kind create cluster --name $(KIND_CLUSTER), or set KIND_CLUSTER" >&2; exit 1; }
	@mkdir -p bin && kind get kubeconfig --name '$(KIND_CLUSTER)' > bin/kind.kubeconfig
cluster-up-current:
	@test '$(IMAGE_REGISTRY)' != loadtest.dev || \
		{ echo "CLUSTER=current pulls its images: set IMAGE_REGISTRY and IMAGE_TAG to where you pushed them" >&2; exit 1; }
	@kubectl cluster-info
cluster-down-kind cluster-down-current:
	@echo "CLUSTER=$(CLUSTER) is yours: it is left as it is"

# After it the cluster is up and has, or can pull, the images.
cluster-ready: cluster-ready-$(CLUSTER)
cluster-ready-local: cluster-up images
	cluster load $(IMAGES:%=bin/images/%.tar)
cluster-ready-kind: cluster-up
	go -C hack/images run . build $(GO_IMAGES)
	for i in $(GO_IMAGES); do kind load image-archive bin/images/$$i.tar --name '$(KIND_CLUSTER)'; done
cluster-ready-current: cluster-up

# What a program that uses the cluster finds in its environment: kubeconfig,
# kubectl, helm, and the variables exported above.
in_local = KUBECONFIG=$$(cluster kubeconfig --path) PATH=$(BIN):$$(cluster assets):$$PATH
in_kind = KUBECONFIG=$(BIN)/kind.kubeconfig

demo: IMAGES := operator worker ratelimiter redis nginx
demo: bin/helm $(COMMANDS) cluster-ready ## Bring everything up, run the rate limiter's scenarios and judge them.
	@$(in_$(CLUSTER)) go run ./hack/demo

#? ARGS  flags of make seeds: -only 004 for a part, -plan to see what would run
seeds: bin/helm $(COMMANDS) cluster-ready ## Run the published experiments again, scaled to two cores; goes on where it was interrupted.
	@$(in_$(CLUSTER)) go run ./hack/seeds $(ARGS)
seeds-report: bin/cluster ## Write docs/results/seed-00N.md from the results of make seeds; no cluster needed.
	@PATH=$$(cluster assets):$$PATH go run ./hack/seeds -report

#? SUITE=ecosystem  Argo CD and others, in no other run: builds each once, which takes minutes
# With -p 1 go test prints each line as it comes, from several packages too.
e2e: bin/helm $(COMMANDS) cluster-ready ## Run the cluster tests, or one suite of them: SUITE=name. FULL=1 injects all faults.
	@$(in_$(CLUSTER)) go test -tags e2e -p 1 -count=1 -v -timeout $(if $(FULL),90m,40m) $(if $(SUITE),-run '(?i)^Test$(SUITE)$$') ./test/e2e/... | \
		awk -v suite="$(SUITE)" -f test/e2e/failures.awk

#? DURATION  for how long the soak creates LoadTests; it takes five minutes more
#? ARGS=-seed=N  the order of actions of an earlier soak
DURATION ?= 15m
soak: bin/helm cluster-ready ## Create, change and delete 200 LoadTests in a random order with faults, and look for leaks.
	@DURATION=$(DURATION) $(in_$(CLUSTER)) go test -tags e2e -count=1 -v -timeout 90m -run '^TestSoak$$' ./test/e2e -args $(ARGS) | \
		tee /dev/stderr | awk '/^soak: runs=/ {last = $$0} END {print last}' # awk may read no line before the last

test-cluster: bin/cluster ## Test the local cluster itself, from up to down; as root, with none running.
	cluster up --install && cluster down # installs what the test needs
	go -C hack/cluster test -tags cluster -count=1 -timeout 10m ./test

##@ Measure
#? ARGS  flags of a benchmark: --rounds 1 --duration 15s for a quick look, --record to keep it

bench-worker: ## Measure what a request and a user cost, beside wrk, vegeta, k6 and others.
bench-accuracy: ## Measure how true quantiles and a stall are over each protocol, and the schedule.
bench-scale: ## Drive 100,000 users on this machine.
bench-targets: ## Measure what the targets' services cost, beside a bare handler.
bench-worker bench-accuracy bench-scale bench-targets: bench-%:
	@go run ./hack/bench $* $(ARGS)
bench-operator: bin/cluster ## Run 50 LoadTests at once beside 1,000 finished ones: at most 200 MB, and 50 KB/s a run.
	@cluster build
	@KUBEBUILDER_ASSETS=$$(cluster assets) go run ./hack/bench operator $(ARGS)
bench-merge: ## Measure what 1,000 workers' snapshots cost the operator a second: at most 50 ms.
	@go test -trimpath -run '^$$' -bench 'Second/(1e4|32x312)' -count 9 ./controllers/coordinator | tee /dev/stderr | \
		awk '{for (i = 2; i <= NF; i++) if ($$i == "cpu-ms/second") print $$1, $$(i-1)}' | sort -k 1,1 -k 2,2n | \
		awk '{n[$$1]++; v[$$1, n[$$1]] = $$2; m[$$1] = v[$$1, int((n[$$1]+1)/2)]; if ($$1 ~ /1e4/) one = m[$$1]; else if ($$1 ~ /ledgers/) last = m[$$1]; else many = m[$$1]} \
		END {printf "bench-merge: workers=1000 cpu-ms-per-second=%.0f bar-ms=50\n", one; \
		printf "bench-merge: workers=1000 requests=32 ledger=at-the-end cpu-ms-per-second=%.0f last-second-cpu-ms=%.0f\n", many, last; exit !(one && one <= 50)}'

# Each simulation is a test of the package that decides, named TestSimulated…, which
# prints a line "bench-judgement: NAME=RATIO".
SIMULATIONS ?= 1000
bench-judgement: ## Simulate SIMULATIONS runs with known truths, and count the wrong judgements.
	@SIMULATIONS=$(SIMULATIONS) go test -count=1 -v -run '^TestSimulated' ./controllers/... | grep -v 'no test' | \
		awk '{print; fflush()} /^bench-judgement: / {line = line " " $$2} /^FAIL/ {failed = 1} END {print "bench-judgement:" line; exit failed || !line}'

bench-search: ## Search for the known limits of five targets on this machine, by real workers.
	@FULL=1 go test -count=1 -v -run '^TestSearchFindsKnownKnees$$' ./cmd/kubectl-loadtest/local

# Each tool is the one `tool` of its own module; a change of that module, and
# nothing else, builds it again.
bin/%: hack/tools/%/go.mod hack/tools/%/go.sum
	@echo "building $* (once, up to minutes)"
	@go -C hack/tools/$* build -o $(BIN)/$* tool && touch $@
