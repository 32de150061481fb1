package enforcer

import (
	"context"
	"crypto/tls"
	"time"

	"github.com/loadtest-dev/loadtest-operator/hack/cluster/collection"
)

// The collections of the API that matter here.
const (
	policiesPath   = "/apis/networking.k8s.io/v1/networkpolicies"
	podsPath       = "/api/v1/pods"
	namespacesPath = "/api/v1/namespaces"
)

// settle is the pause after a change: pods come in dozens, and each changes
// several times until it runs. It is kube-proxy's minSyncPeriod here.
const settle = 200 * time.Millisecond

// Enforcer keeps the firewall of one cluster.
type Enforcer struct {
	// Server is the URL of the API server.
	Server string
	// TLS says who the enforcer is, and who the server has to be.
	TLS *tls.Config
	// Load hands a script to nft.
	Load func(script string) error
	// Say gets what was done and what went wrong, in whole lines.
	Say func(format string, args ...any)

	// loaded is the script that the firewall has.
	loaded string
}

// Run enforces until the context ends. The rules outlive it.
func (e *Enforcer) Run(ctx context.Context) {
	c := collection.NewClient(e.Server, e.TLS)
	defer c.HTTP.CloseIdleConnections()
	collection.Repeat(ctx, func(ctx context.Context) error { return e.pass(ctx, c) }, e.Say)
}

// pass looks, loads what is to be loaded, and waits for a change.
func (e *Enforcer) pass(ctx context.Context, c collection.Client) error {
	now, versions, err := look(ctx, c)
	if err != nil {
		return err
	}
	if err := e.load(now); err != nil {
		return err
	}
	if err := c.Change(ctx, versions); err != nil {
		return err
	}
	collection.Pause(ctx, settle)
	return nil
}

// look is at pods and namespaces only where a policy makes them matter.
func look(ctx context.Context, c collection.Client) (now contents, versions map[string]string, err error) {
	policies, err := collection.Get[policy](ctx, c, policiesPath)
	if err != nil {
		return now, nil, err
	}
	now.policies = policies.Items
	versions = map[string]string{policiesPath: policies.Version()}
	if len(policies.Items) == 0 {
		return now, versions, nil
	}
	pods, err := collection.Get[pod](ctx, c, podsPath)
	if err != nil {
		return now, nil, err
	}
	namespaces, err := collection.Get[namespace](ctx, c, namespacesPath)
	if err != nil {
		return now, nil, err
	}
	now.pods, now.namespaces = pods.Items, namespaces.Items
	versions[podsPath], versions[namespacesPath] = pods.Version(), namespaces.Version()
	return now, versions, nil
}

// load is content with a firewall that is as it should be: most changes of a
// pod are none of its address or labels.
func (e *Enforcer) load(now contents) error {
	chains := decide(now)
	text := script(chains)
	if text == e.loaded {
		return nil
	}
	if err := e.Load(text); err != nil {
		return err
	}
	e.loaded = text
	e.Say("%d policies govern pods in %d chains", len(now.policies), len(chains))
	return nil
}
