package recipe

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Image is one image. Exactly one of Go and Debian is set.
type Image struct {
	// Name is what the command line and the tar file call it.
	Name   string
	Go     *Go
	Debian *Debian
	// Optional images are built when they are named, and not with all others.
	Optional bool
}

// Go is an image that holds one static binary.
type Go struct {
	// Package is the main package, relative to the repository's root. Empty if the
	// binary is an outside component's.
	Package string
	// Component is the outside component that has the binary.
	Component string
	// Binary is the file in the root of the image, and its entrypoint.
	Binary string
}

// All are the images, in the order in which they are built and listed.
func All() []Image {
	return []Image{
		{Name: "operator", Go: &Go{Package: "./cmd", Binary: "manager"}},
		{Name: "worker", Go: &Go{Package: "./loadworker", Binary: "loadworker"}},
		{Name: "ratelimiter", Go: &Go{Package: "./targets/ratelimiter/cmd/ratelimiter", Binary: "ratelimiter"}},
		{Name: "shortener", Go: &Go{Package: "./targets/shortener/cmd/shortener", Binary: "shortener"}},
		{Name: "eventstore", Go: &Go{Package: "./targets/eventstore/cmd/eventstore", Binary: "eventstore"}},
		{Name: "tokens", Go: &Go{Package: "./targets/tokens/cmd/tokens", Binary: "tokens"}},
		{Name: "counter", Go: &Go{Package: "./test/e2e/counter", Binary: "counter"}},
		{Name: "hostile", Go: &Go{Package: "./test/e2e/hostile", Binary: "hostile"}},
		{Name: "redis", Debian: redis()},
		{Name: "nginx", Debian: nginx()},
		{Name: "postgres", Debian: postgres()},
		{Name: "pgbouncer", Debian: pgbouncer()},
		{Name: "kafka", Debian: kafka()},
		{Name: "redis-exporter", Debian: redisExporter()},
		{Name: "postgres-exporter", Debian: postgresExporter()},
		{Name: "shop", Go: &Go{Package: "./examples/shop", Binary: "shop"}, Optional: true},
		{Name: "kubectl-loadtest", Go: &Go{Package: "./cmd/kubectl-loadtest", Binary: "kubectl-loadtest"}, Optional: true},
		{Name: "argocd", Debian: argocd(), Optional: true},
		{Name: "prometheus", Debian: prometheus(), Optional: true},
		{Name: "minio", Go: &Go{Component: "minio", Binary: "minio"}, Optional: true},
		{Name: "metrics-server", Go: &Go{Component: "metrics-server", Binary: "metrics-server"}, Optional: true},
		{Name: "kustomize-controller", Go: &Go{Component: "flux", Binary: "kustomize-controller"}, Optional: true},
		{Name: "groundtruth", Go: &Go{Package: "./test/groundtruth/cmd/groundtruth", Binary: "groundtruth"}, Optional: true},
		{Name: "k6-operator", Go: &Go{Component: "k6-operator", Binary: "manager"}, Optional: true},
		{Name: "k6", Debian: k6(), Optional: true},
		{Name: "locust", Debian: locust(), Optional: true},
	}
}

// Ref is the name of the image on nodes. Its host is never dialed:
// the images are loaded, not pulled.
func (i Image) Ref() string { return "loadtest.dev/" + i.Name + ":dev" }

// File is the name of the image's tar.
func (i Image) File() string { return i.Name + ".tar" }

// Source is a short name of the image's content.
func (i Image) Source() string {
	if i.Go != nil {
		return "go " + cmp.Or(i.Go.Package, i.Go.Component)
	}
	return "debian " + strings.Join(i.Debian.Packages, " ")
}

// Select returns the named images in the order of All, or all that are not optional if no
// name is given.
func Select(names []string) ([]Image, error) {
	all := All()
	if len(names) == 0 {
		return slices.DeleteFunc(all, func(i Image) bool { return i.Optional }), nil
	}
	var known []string
	for _, i := range all {
		known = append(known, i.Name)
	}
	for _, n := range names {
		if !slices.Contains(known, n) {
			return nil, fmt.Errorf("unknown image %q: the images are %s", n, strings.Join(known, ", "))
		}
	}
	return slices.DeleteFunc(all, func(i Image) bool { return !slices.Contains(names, i.Name) }), nil
}
