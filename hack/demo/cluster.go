package main

import "fmt"

// cluster has the differences between the kinds of cluster.
type cluster struct {
	// operator and targets are Helm's arguments that choose images.
	operator, targets []string
	// enter is what a person types to use the cluster.
	enter string
}

// clusterOf reads the kind of cluster from the environment.
func clusterOf(getenv func(string) string) (cluster, error) {
	switch kind := getenv("CLUSTER"); kind {
	case "", "local":
		return cluster{
			operator: []string{"--values", operatorChart + "/values-local.yaml"},
			targets:  []string{"--values", targetsChart + "/values-local.yaml"},
			enter:    `export KUBECONFIG=$(bin/cluster kubeconfig --path) PATH=$PWD/bin:$(bin/cluster assets):$PATH`,
		}, nil
	case "kind", "current":
		registry, tag := getenv("IMAGE_REGISTRY"), getenv("IMAGE_TAG")
		if registry == "" || tag == "" {
			return cluster{}, fmt.Errorf("CLUSTER=%s needs IMAGE_REGISTRY and IMAGE_TAG, which say where the images are", kind)
		}
		c := cluster{
			operator: append(image("image", registry+"/operator", tag), image("workerImage", registry+"/worker", tag)...),
			targets:  image("ratelimiter.image", registry+"/ratelimiter", tag),
			enter:    `export PATH=$PWD/bin:$PATH`,
		}
		if kind == "kind" {
			c.enter = `export KUBECONFIG=$PWD/bin/kind.kubeconfig PATH=$PWD/bin:$PATH`
		}
		return c, nil
	default:
		return cluster{}, fmt.Errorf("CLUSTER is %q; it must be local, kind or current", kind)
	}
}

// image sets an image in the values of a chart.
func image(key, repository, tag string) []string {
	return []string{"--set", key + ".repository=" + repository, "--set-string", key + ".tag=" + tag}
}
