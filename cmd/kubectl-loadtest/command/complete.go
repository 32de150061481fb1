package command

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/document"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/overview"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/form"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/serve"
)

// patience is how long a person waits for names after the tabulator key.
const patience = 3 * time.Second

// names completes the names of something.
type names = func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective)

// complete has the shell complete names of LoadTests, and what flags may be.
func (c *config) complete(root *cobra.Command) {
	several := []string{"cancel", "compare"}
	one := []string{"watch", "report", "rerun"}
	for _, command := range root.Commands() {
		switch {
		case slices.Contains(several, command.Name()):
			command.ValidArgsFunction = c.completeLoadTests(func([]string) bool { return true })
		case slices.Contains(one, command.Name()):
			command.ValidArgsFunction = c.completeLoadTests(func(args []string) bool { return len(args) == 0 })
		case command.Name() == "trend":
			command.ValidArgsFunction = c.completeFrom
		}
		if command.Flags().Lookup("from") != nil {
			complete(command, "from", c.completeFrom)
		}
		completeFlags(command)
	}
	complete(root, "namespace", c.completeNamespaces)
	complete(root, clientcmd.FlagContext, c.completeContexts)
}

// completeFlags is about the flags that have a closed set of values.
func completeFlags(command *cobra.Command) {
	forms := map[string][]string{
		"report": form.Names, "run": form.Names, "compare": {"text", "markdown"}, "trend": {"text", "json"}, "plan": planOutputs, "list": listOutputs[1:],
	}
	for flag, values := range map[string][]string{"output": forms[command.Name()], "serve": serve.Names(), "sort": overview.Orders} {
		if command.Flags().Lookup(flag) != nil && len(values) > 0 {
			complete(command, flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
				return values, cobra.ShellCompDirectiveNoFileComp
			})
		}
	}
}

func complete(command *cobra.Command, flag string, values names) {
	if err := command.RegisterFlagCompletionFunc(flag, values); err != nil {
		panic(err) // there is no such flag, or it is completed already
	}
}

// completeLoadTests completes names of LoadTests in the namespace, while more are wanted.
func (c *config) completeLoadTests(wanted func(args []string) bool) names {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if !wanted(args) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		found := c.namesOf(cmd.Context(), document.LoadTestKind, true)
		return slices.DeleteFunc(found, func(name string) bool { return slices.Contains(args, name) }), cobra.ShellCompDirectiveNoFileComp
	}
}

func (c *config) completeNamespaces(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	return c.namesOf(cmd.Context(), corev1.SchemeGroupVersion.WithKind("Namespace"), false), cobra.ShellCompDirectiveNoFileComp
}

func (c *config) completeContexts(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	config, err := c.rules.Load()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var found []string
	for name := range config.Contexts {
		found = append(found, name)
	}
	slices.Sort(found)
	return found, cobra.ShellCompDirectiveNoFileComp
}

// namesOf are the names of the objects of a kind. Without a cluster there are none: a
// completion says nothing of errors.
func (c *config) namesOf(ctx context.Context, kind schema.GroupVersionKind, namespaced bool) []string {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cluster, err := c.connect()
	if err != nil {
		return nil
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	var within []client.ListOption
	if namespaced {
		within = append(within, client.InNamespace(cluster.namespace))
	}
	if err := cluster.List(ctx, list, within...); err != nil {
		return nil
	}
	var found []string
	for i := range list.Items {
		found = append(found, list.Items[i].Name)
	}
	return found
}
