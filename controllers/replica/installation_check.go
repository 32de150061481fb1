package replica

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
)

// checkTimeout is how long a check is tried again: after an install or an upgrade it takes
// a while until a replica leads and the API server has read a policy.
const checkTimeout = time.Minute

// good and bad are specs of LoadTests that are not stored: one that nothing is wrong with,
// and one that would send load to the API server.
const (
	good = `{target: {service: {name: example, port: 80}}, requests: [{name: home, http: {path: /}}], steps: [{name: 1/s, rate: 1, duration: 1s}]}`
	bad  = `{target: {url: "https://kubernetes.default.svc"}, requests: [{name: home, http: {path: /}}], steps: [{name: 1/s, rate: 1, duration: 1s}]}`
)

// installation is what `manager check` looks at, which helm test runs: whether what is
// installed beside the operator's pods is as they need it. It runs in a pod of its own, as
// an account that may do nothing but create LoadTests in its namespace.
type installation struct {
	namespace, coordinator, ca string
	policy                     bool
	client                     client.Client
	api                        rest.Interface
}

// Check reads the arguments of `manager check`, makes the checks, and prints a line for each.
func Check(ctx context.Context, scheme *runtime.Scheme, args []string, w io.Writer) error {
	var i installation
	flags := flag.NewFlagSet("check", flag.ContinueOnError)
	flags.StringVar(&i.namespace, "namespace", os.Getenv("POD_NAMESPACE"), "`namespace` for LoadTests that are not stored; default: $POD_NAMESPACE")
	flags.StringVar(&i.coordinator, "coordinator", "", "`host:port` that workers dial")
	flags.StringVar(&i.ca, "ca", "", "`file` with the CA of the coordinator")
	flags.BoolVar(&i.policy, "policy", false, "also check that the admission policy refuses LoadTests whose targets can never be allowed")
	if err := flags.Parse(args); err != nil {
		return err
	}
	config, err := rest.InClusterConfig()
	if err != nil {
		return fmt.Errorf("find the cluster: %w", err)
	}
	if err := i.connect(config, scheme); err != nil {
		return err
	}
	return i.run(ctx, checkTimeout, w)
}

func (i *installation) connect(config *rest.Config, scheme *runtime.Scheme) (err error) {
	if i.client, err = client.New(config, client.Options{Scheme: scheme}); err != nil {
		return fmt.Errorf("create client: %w", err)
	}
	discovered, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return fmt.Errorf("create client: %w", err)
	}
	i.api = discovered.RESTClient()
	return nil
}

// run makes one check after another.
func (i *installation) run(ctx context.Context, limit time.Duration, w io.Writer) error {
	checks := []struct {
		what string
		do   func(context.Context) error
	}{
		{"the CustomResourceDefinitions have all fields of this version", i.definitions},
		{"a replica leads, and workers reach it at " + i.coordinator, i.leader},
		{"the API server accepts a LoadTest", i.taken},
		{"the API server refuses a LoadTest that aims at itself", i.refused},
	}
	if !i.policy {
		checks = checks[:len(checks)-1]
	}
	for _, c := range checks {
		if err := within(ctx, limit, c.do); err != nil {
			return fmt.Errorf("check failed: %s: %w", c.what, err)
		}
		_, _ = fmt.Fprintln(w, "ok:", c.what)
	}
	return nil
}

// within tries until it succeeds, at least once, and returns the last error when the time is
// over. The limit does not cut a try short, whose error would then not say what is wrong.
func within(ctx context.Context, limit time.Duration, try func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		err := attempt(ctx, try)
		if err == nil {
			return nil
		}
		Pause(limited, retryEvery)
		if limited.Err() != nil {
			return err
		}
	}
}

func (i *installation) definitions(ctx context.Context) error {
	lacking, err := Lacking(ctx, i.api)
	if err == nil && len(lacking) > 0 {
		err = older(lacking)
	}
	return err
}

// leader connects as a worker does.
func (i *installation) leader(ctx context.Context) error {
	ca, err := os.ReadFile(i.ca)
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(ca) {
		return fmt.Errorf("%s has no certificate", i.ca)
	}
	dialer := tls.Dialer{Config: &tls.Config{RootCAs: roots, ServerName: workerv1.ServerName, MinVersion: tls.VersionTLS13, NextProtos: []string{"h2"}}}
	conn, err := dialer.DialContext(ctx, "tcp", i.coordinator)
	if err != nil {
		return err
	}
	return conn.Close()
}

func (i *installation) taken(ctx context.Context) error { return i.dryRun(ctx, good) }

func (i *installation) refused(ctx context.Context) error {
	err := i.dryRun(ctx, bad)
	switch {
	case err == nil:
		return errors.New("the LoadTest was accepted: the admission policy or its binding is missing")
	case !strings.Contains(err.Error(), "can never be a target"):
		return err
	}
	return nil
}

// dryRun has the API server decide about a LoadTest without storing it.
func (i *installation) dryRun(ctx context.Context, spec string) error {
	lt := &v1beta1.LoadTest{}
	if err := yaml.UnmarshalStrict([]byte(spec), &lt.Spec); err != nil {
		return err
	}
	lt.Namespace, lt.Name = i.namespace, "installation-check"
	return i.client.Create(ctx, lt, client.DryRunAll)
}
