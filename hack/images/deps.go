package main

import (
	"context"
	"fmt"
	"io"

	"github.com/loadtest-dev/loadtest-operator/hack/images/goimage"
	"github.com/loadtest-dev/loadtest-operator/hack/images/prerequisite"
)

// host is what the builds and the tests of the repository need of a machine, by make's name
// for those that need it; the first are for all.
var host = map[string][]prerequisite.Program{
	"": {
		{Name: "gcc", Package: "gcc"},
		{Name: "/usr/include/stdlib.h", Package: "libc6-dev"},
		{Name: goimage.HostCertificates, Package: "ca-certificates"},
		{Name: "nginx", Package: "nginx-light"},
		{Name: "redis-server", Package: "redis-server"},
		{Name: "pgbouncer", Package: "pgbouncer"},
		{Name: "/usr/lib/postgresql/15/bin/postgres", Package: "postgresql-15"},
		{Name: "chromium-headless-shell", Package: "chromium-headless-shell"},
		{Name: "promtool", Package: "prometheus"},
		{Name: "h2load", Package: "nghttp2-client"},
		{Name: "java", Package: "openjdk-17-jre-headless"},
		mmdebstrap,
		maven,
	},
	"ecosystem": {{Name: "docker-registry", Package: "docker-registry"}},
}

func depsCommand(ctx context.Context, args []string, w io.Writer) error {
	flags, install := newFlags("deps")
	if help, err := parse(flags, args, w); help || err != nil {
		return err
	}
	needed := host[""]
	for _, name := range flags.Args() {
		if host[name] == nil {
			return fmt.Errorf("nothing is known of %q: the suite that needs more is ecosystem", name)
		}
		needed = append(needed[:len(needed):len(needed)], host[name]...)
	}
	return prerequisite.Ensure(ctx, needed, *install, w)
}
