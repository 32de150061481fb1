package enforcer

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"github.com/loadtest-dev/loadtest-operator/hack/cluster/kubernetes/controller"
)

// debounce is long enough for the several changes of a pod that starts, and of
// the other pods of its Job. kube-proxy's minSyncPeriod is as long here.
const debounce = 200 * time.Millisecond

// Enforcer keeps the firewall of one cluster.
type Enforcer struct {
	Client kubernetes.Interface
	// Table is the name of the firewall's table.
	Table string
	// Load runs a script of nft.
	Load func(ctx context.Context, script string) error
	// Logf gets what was done and what failed.
	Logf func(format string, args ...any)

	// loaded is the script that was loaded last.
	loaded string
}

// NewCommand is the program.
func NewCommand() *cobra.Command {
	e := &Enforcer{Load: nft, Logf: klog.Infof}
	command := controller.NewCommand("enforcer", "Keep the firewall in step with the cluster's NetworkPolicies.",
		func(ctx context.Context, client kubernetes.Interface) error {
			e.Client = client
			return e.Run(ctx)
		})
	controller.RequiredFlag(command, &e.Table, "table", "`name` of the firewall's table")
	return command
}

// Run enforces until the context ends. The rules stay.
func (e *Enforcer) Run(ctx context.Context) error {
	factory := informers.NewSharedInformerFactory(e.Client, 0)
	policies, pods, namespaces := factory.Networking().V1().NetworkPolicies(), factory.Core().V1().Pods(), factory.Core().V1().Namespaces()
	c := controller.Controller{Factory: factory, Debounce: debounce, Logf: e.Logf, Reconcile: func(ctx context.Context) error {
		now := state{
			policies:   list(policies.Lister().List),
			pods:       list(pods.Lister().List),
			namespaces: list(namespaces.Lister().List),
		}
		return e.reconcile(ctx, now)
	}}
	return c.Run(ctx, policies.Informer(), pods.Informer(), namespaces.Informer())
}

// list is in the order of the names: the order of a cache changes from call to
// call, and the script would change with it. A cache returns no error.
func list[T metav1.Object](from func(labels.Selector) ([]T, error)) []T {
	all, _ := from(labels.Everything())
	slices.SortFunc(all, func(a, b T) int {
		return cmp.Or(strings.Compare(a.GetNamespace(), b.GetNamespace()), strings.Compare(a.GetName(), b.GetName()))
	})
	return all
}

// reconcile loads the script, unless it is the one that was loaded last: most
// changes of a pod are not of its address or labels.
func (e *Enforcer) reconcile(ctx context.Context, now state) error {
	chains := decide(now)
	text := script(e.Table, chains)
	if text == e.loaded {
		return nil
	}
	if err := e.Load(ctx, text); err != nil {
		return err
	}
	e.loaded = text
	e.Logf("loaded %d chains for %d policies", len(chains), len(now.policies))
	return nil
}

// nft runs a script as one transaction.
func nft(ctx context.Context, script string) error {
	command := exec.CommandContext(ctx, "nft", "--file", "-")
	command.Stdin = strings.NewReader(script)
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("nft: %w: %s\ninput:\n%s", err, bytes.TrimSpace(out), script)
	}
	return nil
}
