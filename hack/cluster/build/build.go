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
		Packages: []string{".", "./coredns", "./pause"}, LinkerFlags: linkerFlags(release),
	}, nil
}
