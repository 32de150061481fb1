package build

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/loadtest-dev/loadtest-operator/hack/components/build"
)

// Components are the names that the multi-call binary answers to.
var Components = []string{
	"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler",
	"kubelet", "kube-proxy", "kubectl", "provisioner", "enforcer",
}

// multicall is the binary that the components' names are links to.
const multicall = "kubernetes"

// notInlined are packages that no program of ours has, and most of what only Kubernetes has. Without
// inlined calls it is built a seventh faster. The packages that programs of ours have too are
// compiled once for all of them; those that bin/helm has too, with the Makefile's same flag.
var notInlined = []string{
	"k8s.io/kubernetes/...", "k8s.io/apiserver/pkg/admission/...", "k8s.io/apiserver/pkg/endpoints/...",
	"k8s.io/apiserver/pkg/registry/...", "k8s.io/apiserver/pkg/server/...", "k8s.io/apiserver/pkg/storage/...",
	"k8s.io/apiserver/plugin/...", "k8s.io/cli-runtime/...", "k8s.io/cloud-provider/...", "k8s.io/component-helpers/...",
	"k8s.io/controller-manager/...", "k8s.io/cri-api/...", "k8s.io/dynamic-resource-allocation/...",
	"k8s.io/endpointslice/...", "k8s.io/kube-aggregator/...", "k8s.io/kube-scheduler/...", "k8s.io/kubectl/...",
	"k8s.io/kubelet/...", "k8s.io/metrics/...", "k8s.io/pod-security-admission/...", "sigs.k8s.io/knftables/...",
	"sigs.k8s.io/kustomize/...", "go.etcd.io/...", "github.com/containerd/containerd/...", "github.com/container-storage-interface/...",
	"github.com/coredns/...", "github.com/godbus/...", "github.com/gogo/...", "github.com/google/cadvisor/...",
	"github.com/grpc-ecosystem/go-grpc-middleware/...", "github.com/opencontainers/cgroups/...", "github.com/russross/...",
	"github.com/vishvananda/...", "gopkg.in/go-jose/...",
}

// Kubernetes returns what builds the components of the module in that folder.
func Kubernetes(source, cache string, progress func(build.Progress)) (build.Builder, error) {
	gomod, err := os.ReadFile(filepath.Join(source, "go.mod"))
	if err != nil {
		return build.Builder{}, fmt.Errorf("read the components' module: %w", err)
	}
	release, err := version(string(gomod))
	if err != nil {
		return build.Builder{}, err
	}
	links := map[string]string{}
	for _, name := range Components {
		links[name] = multicall
	}
	return build.Builder{
		Name: "kubernetes", Source: source, Cache: cache, Progress: progress, Links: links,
		Packages: []string{".", "./coredns", "./pause"}, LinkerFlags: linkerFlags(release), NotInlined: notInlined,
	}, nil
}
