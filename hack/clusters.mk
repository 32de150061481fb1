# How each kind of cluster is started, gets its images and is used; the Makefile includes it.
ifeq ($(filter $(CLUSTER),local kind current),)
$(error CLUSTER=$(CLUSTER) is none of local, kind and current)
endif

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
