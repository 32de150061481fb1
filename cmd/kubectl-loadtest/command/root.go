package command

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/exitcode"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// Streams are where a command reads and writes.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// Size is that of the terminal that Err is, in columns and rows; nil when it is none.
	Size func() (columns, rows int)
}

// Execute runs a command line and returns its exit code.
func Execute(ctx context.Context, args []string, streams Streams) int {
	root := newRoot(streams)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var verdict exitcode.Verdict
	switch {
	case err == nil:
		return exitcode.Passed
	case errors.As(err, &verdict):
		return verdict.Code
	}
	_, _ = fmt.Fprintln(streams.Err, text.Lines("error: "+explain(err).Error()))
	if ctx.Err() != nil {
		return exitcode.Interrupted
	}
	return exitcode.Error
}

// config has the shared settings of the commands.
type config struct {
	streams   Streams
	overrides clientcmd.ConfigOverrides
	rules     *clientcmd.ClientConfigLoadingRules
}

func newRoot(streams Streams) *cobra.Command {
	c := &config{streams: streams, rules: clientcmd.NewDefaultClientConfigLoadingRules()}
	root := &cobra.Command{
		Use:   "kubectl-loadtest",
		Short: "Run load tests on Kubernetes, follow them and print their reports",
		Long: "Run load tests on Kubernetes, follow them and print their reports.\n\n" +
			"A LoadTest is a resource; the operator runs it and writes the result into its status.\n" +
			"kubectl get loadtests shows all of them.",
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl loadtest"},
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.Err)
	flags := root.PersistentFlags()
	flags.StringVar(&c.rules.ExplicitPath, clientcmd.RecommendedConfigPathFlag, "", "Path of the kubeconfig; default: $KUBECONFIG, then ~/.kube/config, then the pod's service account")
	clientcmd.BindOverrideFlags(&c.overrides, flags, overrideFlags())
	root.AddCommand(c.init(), c.run(), c.plan(), c.validate(), c.try(), c.watch(), c.ui(), c.list(), c.report(), c.compare(), c.trend(), c.cancel(), c.stop(), c.resume(), c.rerun(), c.worker(), c.version())
	c.complete(root)
	return root
}

// overrideFlags are those flags of kubectl that choose a cluster and namespace.
func overrideFlags() clientcmd.ConfigOverrideFlags {
	all := clientcmd.RecommendedConfigOverrideFlags("")
	all.ContextOverrideFlags.Namespace.Description = "Namespace of the LoadTest; default: the context's"
	all.CurrentContext.Description = "Context of the kubeconfig to use; default: its current one"
	return clientcmd.ConfigOverrideFlags{
		AuthOverrideFlags: clientcmd.AuthOverrideFlags{
			Impersonate:       all.AuthOverrideFlags.Impersonate,
			ImpersonateGroups: all.AuthOverrideFlags.ImpersonateGroups,
		},
		ContextOverrideFlags: clientcmd.ContextOverrideFlags{
			ClusterName:  all.ContextOverrideFlags.ClusterName,
			AuthInfoName: all.ContextOverrideFlags.AuthInfoName,
			Namespace:    all.ContextOverrideFlags.Namespace,
		},
		CurrentContext: all.CurrentContext,
	}
}
