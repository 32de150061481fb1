package deploy

import (
	"fmt"
	"slices"
)

// The charts, from the root of the repository, and where the operator is installed.
const (
	OperatorChart     = "charts/loadtest-operator"
	OperatorNamespace = "loadtest-system"
	TargetsChart      = "charts/targets"
)

// Cluster has the differences between the kinds of cluster.
type Cluster struct {
	// Operator and Targets are Helm's arguments that choose images.
	Operator, Targets []string
	// Enter is what a person types to use the cluster.
	Enter string
}

// ClusterOf reads the kind of cluster from the environment.
func ClusterOf(getenv func(string) string) (Cluster, error) {
	switch kind := getenv("CLUSTER"); kind {
	case "", "local":
		return Cluster{
			Operator: []string{"--values", OperatorChart + "/values-local.yaml"},
			Targets:  []string{"--values", TargetsChart + "/values-local.yaml"},
			Enter:    `export KUBECONFIG=$(bin/cluster kubeconfig --path) PATH=$PWD/bin:$(bin/cluster assets):$PATH`,
		}, nil
	case "kind", "current":
		registry, tag := getenv("IMAGE_REGISTRY"), getenv("IMAGE_TAG")
		if registry == "" || tag == "" {
			return Cluster{}, fmt.Errorf("CLUSTER=%s needs IMAGE_REGISTRY and IMAGE_TAG, which say where the images are", kind)
		}
		c := Cluster{
			Operator: append(image("image", registry+"/operator", tag), image("workerImage", registry+"/worker", tag)...),
			Targets: slices.Concat(image("ratelimiter.image", registry+"/ratelimiter", tag),
				image("shortener.image", registry+"/shortener", tag), image("eventstore.image", registry+"/eventstore", tag),
				image("tokens.image", registry+"/tokens", tag)),
			Enter: `export PATH=$PWD/bin:$PATH`,
		}
		if kind == "kind" {
			c.Enter = `export KUBECONFIG=$PWD/bin/kind.kubeconfig PATH=$PWD/bin:$PATH`
		}
		return c, nil
	default:
		return Cluster{}, fmt.Errorf("CLUSTER is %q; it must be local, kind or current", kind)
	}
}

// image sets an image in the values of a chart.
func image(key, repository, tag string) []string {
	return []string{"--set", key + ".repository=" + repository, "--set-string", key + ".tag=" + tag}
}
