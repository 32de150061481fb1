package components

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/hack/components/build"
)

// Component is a program, or several, of another project.
type Component struct {
	// Name is that of the folder whose go.mod pins the component.
	Name string
	// Title is the name for people.
	Title string
	// Source is the folder of the module, relative to the repository's root, if it is not here.
	Source string
	// Links are further names of a binary, by name.
	Links map[string]string
	// LinkerFlags are what the project's own release sets.
	LinkerFlags []string
}

// all are the components.
var all = []Component{
	// One binary, which acts by the name that it is called by.
	{Name: "argocd", Title: "Argo CD", Links: links("cmd",
		"argocd", "argocd-application-controller", "argocd-repo-server", "argocd-applicationset-controller")},
	{Name: "flux", Title: "Flux's kustomize-controller"},
	// The version that benchmarks outside a cluster have.
	{Name: "k6", Title: "k6", Source: "hack/bench/peers/k6"},
	// Its own image calls it so.
	{Name: "k6-operator", Title: "k6-operator", Links: links("cmd", "manager")},
	{Name: "metrics-server", Title: "metrics-server"},
	{Name: "minio", Title: "MinIO"},
	{Name: "prometheus", Title: "Prometheus"},
	{Name: "prometheus-operator", Title: "Prometheus Operator"},
}

// links are names of one binary.
func links(binary string, names ...string) map[string]string {
	links := map[string]string{}
	for _, name := range names {
		links[name] = binary
	}
	return links
}

// source is the folder of the module, relative to the repository's root.
func (c Component) source() string {
	return cmp.Or(c.Source, filepath.Join("hack", "components", c.Name))
}

// named returns the component of a name.
func named(name string) (Component, error) {
	i := slices.IndexFunc(all, func(c Component) bool { return c.Name == name })
	if i < 0 {
		var names []string
		for _, c := range all {
			names = append(names, c.Name)
		}
		return Component{}, fmt.Errorf("unknown component %q: the components are %s", name, strings.Join(names, ", "))
	}
	return all[i], nil
}

// Build returns the folder with the programs of a component, and builds them first unless
// that has been done. root is that of the repository; progress gets a line now and then.
func Build(ctx context.Context, root, name string, progress io.Writer) (folder string, err error) {
	c, err := named(name)
	if err != nil {
		return "", err
	}
	cache, err := build.DefaultCache()
	if err != nil {
		return "", err
	}
	b := build.Builder{
		Name: c.Name, Source: filepath.Join(root, c.source()), Cache: cache,
		Packages: []string{"tool"}, Links: c.Links, LinkerFlags: c.LinkerFlags,
		Progress: build.Lines(progress, "components", c.Title),
	}
	return b.Build(ctx)
}
