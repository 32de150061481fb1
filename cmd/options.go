package main

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/resultkeeper"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/targetaccess"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/controllers/replica"
	"github.com/loadtest-dev/loadtest-operator/controllers/replica/metricspush"
)

// options are the operator's flags.
type options struct {
	coordinatorBind, coordinatorAdvertise, coordinatorSecret string
	workerImage, watchNamespaces                             string
	configMap, configFile                                    string
	metricsBind, probeBind, namespace                        string
	coordinatorService, podIP, lease                         string
	checkTargets                                             bool
	readTargets, readUsage, metricsSecure                    bool
	prometheusFolder                                         string
	metricsMost, metricsMostRequests                         int
	folders                                                  resultkeeper.Folders
	otlp                                                     metricspush.Config
}

func (o *options) bind(fs *flag.FlagSet) {
	fs.StringVar(&o.coordinatorBind, "coordinator-bind-address", ":9443", "`address` on which workers are served")
	fs.StringVar(&o.coordinatorAdvertise, "coordinator-advertise", "", "`host:port` that workers dial: the leader's Service, or an address of this machine when the operator runs outside the cluster (required)")
	fs.StringVar(&o.coordinatorSecret, "coordinator-secret", "loadtest-operator-coordinator", "`name` of the Secret, in the operator's namespace, that keeps the coordinator's certificate")
	fs.StringVar(&o.lease, "lease", "loadtest-operator.loadtest.dev", "`name` of the Lease, in the operator's namespace, that the leading replica holds")
	fs.StringVar(&o.workerImage, "worker-image", "", "`image` of workers, where a LoadTest names none (required)")
	fs.StringVar(&o.configMap, "config-map", defaultConfigMap, "`name` of the ConfigMap, in the operator's namespace, with the administrator's configuration (key config.yaml) and the switch that stops runs (key stop.yaml); it is read again when it changes, and may be absent")
	fs.StringVar(&o.configFile, "config", "", "`file` with the administrator's configuration, instead of --config-map: it is read once, and kubectl loadtest stop has no effect")
	fs.StringVar(&o.watchNamespaces, "watch-namespaces", "", "comma-separated `namespaces` whose LoadTests are run; empty: all")
	fs.BoolVar(&o.readTargets, "read-targets", true, "read the pods behind the Service of a target at the beginning and the end of each step, so that the result says what was tested; false: do not read them")
	fs.BoolVar(&o.readUsage, "read-usage", false, "read what the pods behind the Service of a target use while a step runs, from the resource metrics API (metrics.k8s.io), so that the result says which limit they are at; needs --read-targets")
	fs.StringVar(&o.prometheusFolder, "prometheus-folder", "/etc/loadtest-operator/prometheus", "`folder` with what prometheus.url of the configuration needs: token, which is sent as a bearer token, and ca.crt, if there are")
	fs.BoolVar(&o.checkTargets, "check-targets", true, "read what is behind the target of a run, refuse a target that leads anywhere that is not allowed, and tell workers where they may connect; false, for simulated workers only: workers connect to nothing")
	fs.StringVar(&o.metricsBind, "metrics-bind-address", ":8443", "`address` of /metrics; 0: none")
	fs.BoolVar(&o.metricsSecure, "metrics-secure", true, "serve /metrics over TLS, and only to those whose bearer token may get that path; false: over plain HTTP to all who ask")
	fs.IntVar(&o.metricsMost, "metrics-max-loadtests", 300, "largest `number` of LoadTests that have series in the metrics, about 70 each; loadtest_metrics_left_out counts the others")
	fs.IntVar(&o.metricsMostRequests, "metrics-max-requests", 1000, "largest `number` of requests, of all LoadTests together, that have series in the metrics, at most 23 each; loadtest_metrics_requests_left_out counts the others")
	fs.StringVar(&o.otlp.Endpoint, "otlp-endpoint", "", "`URL` of an OTLP collector that gets by HTTP what /metrics has, such as https://collector.monitoring:4318; empty: none")
	fs.DurationVar(&o.otlp.Interval, "otlp-interval", defaultOTLPInterval, "`time` between two pushes to --otlp-endpoint, at least 10s")
	fs.StringVar(&o.otlp.Folder, "otlp-folder", "/etc/loadtest-operator/otlp", "`folder` with what --otlp-endpoint needs, if it does: headers, a line Name: value for each; ca.crt, authorities to trust beside the public ones; tls.crt and tls.key, the operator's certificate")
	fs.StringVar(&o.folders.Keys, "keys-folder", "/etc/loadtest-operator/keys", "`folder` with the keys for the results of finished runs: accessKeyID, secretAccessKey and, if there are, sessionToken and ca.crt of the object store, webhookKey and webhook-ca.crt of the webhook")
	fs.StringVar(&o.folders.Results, "results-folder", "/var/lib/loadtest-operator/results", "`folder` in which results.volume of the configuration keeps the results of finished runs")
	fs.StringVar(&o.probeBind, "health-probe-bind-address", ":8081", "`address` of /healthz and /readyz")
	fs.StringVar(&o.namespace, "namespace", os.Getenv("POD_NAMESPACE"), "the operator's own `namespace`; default: $POD_NAMESPACE")
	fs.StringVar(&o.coordinatorService, "coordinator-service", "", "`name` of the Service without a selector, in the operator's namespace, that the leader directs to itself; empty, outside the cluster: none, as workers dial this process")
	fs.StringVar(&o.podIP, "pod-ip", os.Getenv("POD_IP"), "`address` of this replica, for --coordinator-service; default: $POD_IP")
}

func (o *options) validate() error {
	for _, f := range []struct{ name, value, fix string }{
		{"coordinator-advertise", o.coordinatorAdvertise, "the host:port that workers dial"},
		{"worker-image", o.workerImage, "the image of workers"},
		{"namespace", o.namespace, "the operator's own namespace, or set POD_NAMESPACE"},
	} {
		if f.value == "" {
			return fmt.Errorf("--%s is required: give %s", f.name, f.fix)
		}
	}
	if o.readUsage && !o.readTargets {
		return errors.New("--read-usage needs --read-targets: without the pods their limits are not known")
	}
	if _, err := o.readConfigFile(); err != nil {
		return err
	}
	if _, err := o.endpoint(); err != nil {
		return err
	}
	if o.otlp.Endpoint != "" {
		if err := o.otlp.Check(); err != nil {
			return fmt.Errorf("--otlp-endpoint, --otlp-interval: %w", err)
		}
	}
	// Without a host, a worker would dial itself.
	if host, port, err := net.SplitHostPort(o.coordinatorAdvertise); err != nil || host == "" || port == "" {
		return fmt.Errorf("--coordinator-advertise %q: must be host:port, such as loadtest-operator-leader.loadtest-system.svc:9443", o.coordinatorAdvertise)
	}
	return nil
}

// defaultOTLPInterval is what Prometheus' servers scrape at, too.
const defaultOTLPInterval = 30 * time.Second

// defaultConfigMap is that of config/default and of a release with the chart's name.
const defaultConfigMap = "loadtest-operator-config"

// readConfigFile is the policy of --config; nil: there is none.
func (o *options) readConfigFile() (*policy.Policy, error) {
	if o.configFile == "" {
		return nil, nil
	}
	if o.configMap != defaultConfigMap {
		return nil, errors.New("--config and --config-map exclude each other: give one of them")
	}
	document, err := os.ReadFile(o.configFile)
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	p, err := policy.Load(document)
	if err != nil {
		return nil, fmt.Errorf("--config %s: %w", o.configFile, err)
	}
	return p, nil
}

// endpoint is where the Service leads; nil: there is no Service.
func (o *options) endpoint() (*replica.Endpoint, error) {
	if o.coordinatorService == "" {
		return nil, nil
	}
	address, err := netip.ParseAddr(o.podIP)
	if err != nil {
		return nil, fmt.Errorf("--coordinator-service needs --pod-ip or POD_IP: %w", err)
	}
	_, port, err := net.SplitHostPort(o.coordinatorBind)
	if err != nil {
		return nil, fmt.Errorf("--coordinator-bind-address: %w", err)
	}
	number, err := net.LookupPort("tcp", port)
	if err != nil {
		return nil, fmt.Errorf("--coordinator-bind-address: %w", err)
	}
	return &replica.Endpoint{
		Service: types.NamespacedName{Namespace: o.namespace, Name: o.coordinatorService},
		Address: address, Port: int32(number),
	}, nil
}

// list splits a comma-separated flag.
func list(s string) []string {
	var out []string
	for _, item := range strings.Split(s, ",") {
		if item = strings.TrimSpace(item); item != "" {
			out = append(out, item)
		}
	}
	return out
}

// own is where the operator runs.
func (o *options) own() targetaccess.Own {
	own := targetaccess.Own{Namespace: o.namespace}
	if a, err := netip.ParseAddr(o.podIP); err == nil {
		own.Addresses = append(own.Addresses, a)
	}
	return own
}
