package command

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/html"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/ui"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/ui/runs"
)

// uiOptions are the flags of ui.
type uiOptions struct {
	all  bool
	port int
	// folder has archives, which are shown in place of a cluster's runs.
	folder string
	// local is where they are on this machine.
	local string
	links linkOptions
}

func (c *config) ui() *cobra.Command {
	var o uiOptions
	command := &cobra.Command{
		Use:   "ui",
		Short: "Show LoadTests in the browser, live, until Ctrl-C",
		Long: "Serve pages of what runs and what ended, and print their URL. A page follows its run\n" +
			"live: rates, response times, outstanding requests, errors. From a run it leads to its\n" +
			"steps, their requests, error samples and traces; it compares runs, shows the history\n" +
			"of a schedule, and stops runs or starts one again after a question.\n\n" +
			"The pages are served on this machine alone, and only to who knows the URL: it has a\n" +
			"secret that is new at each start. Do not share the URL: the pages read and do what\n" +
			"you may. They need get, list and watch on loadtests.loadtest.dev; patch to stop a run,\n" +
			"create to start one again; list and watch on loadtestschedules.loadtest.dev and get on\n" +
			"ConfigMaps where these are to be shown. Nothing new listens in the cluster.\n\n" +
			"With --from, the pages are of archives as the operator writes them, in a folder\n" +
			"NAMESPACE/NAME/UID.json.gz or in an object store, of which they are copied when ui starts.\n" +
			"No cluster is asked.\n\n" +
			"On another machine, by ssh -L 8080:127.0.0.1:8080 HOST and the same --port.",
		Example: "  kubectl loadtest ui -n shop\n" +
			"  kubectl loadtest ui -A --port 8080\n" +
			"  kubectl loadtest ui --from ./load-tests/cluster-a\n" +
			"  kubectl loadtest ui --from s3://load-tests/cluster-a -n shop\n\n" +
			"  # On the run that is started, in a cluster or on this machine\n" +
			"  kubectl loadtest run --ui -f burst.yaml\n" +
			"  kubectl loadtest try --ui",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkPort(o.port); err != nil {
				return err
			}
			return c.runUI(cmd.Context(), &o)
		},
	}
	command.Flags().BoolVarP(&o.all, "all-namespaces", "A", false, "Show the LoadTests of all namespaces")
	command.Flags().StringVar(&o.folder, "from", "", "Folder, or s3://BUCKET/PREFIX, with the archives of runs, as the operator keeps them, in place of the cluster")
	command.MarkFlagsMutuallyExclusive("from", "all-namespaces")
	o.links.bind(command.Flags())
	bindPort(command.Flags(), &o.port)
	return command
}

// runUI serves the pages of a cluster, or of archives.
func (c *config) runUI(ctx context.Context, o *uiOptions) error {
	var remove func()
	var err error
	if o.local, remove, err = c.fetch(ctx, o.folder, c.overrides.Context.Namespace, "", mostArchives); err != nil {
		return err
	}
	defer remove()
	group, ctx := errgroup.WithContext(ctx)
	server, err := c.serve(ctx, group, o)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(c.streams.Out, server.URL); err != nil {
		return fmt.Errorf("write the URL: %w", err)
	}
	return group.Wait()
}

func (c *config) serve(ctx context.Context, group *errgroup.Group, o *uiOptions) (*ui.Server, error) {
	if o.folder != "" {
		return c.serveArchives(ctx, group, o)
	}
	cluster, err := c.connect()
	if err != nil {
		return nil, err
	}
	namespace := cluster.namespace
	if o.all {
		namespace = ""
	}
	return c.serveCluster(ctx, group, cluster, namespace, o.port, &o.links)
}

// serveCluster follows the LoadTests of a namespace, "" for all, and serves their pages, until
// ctx ends.
func (c *config) serveCluster(ctx context.Context, group *errgroup.Group, cluster *cluster, namespace string, port int, links *linkOptions) (*ui.Server, error) {
	to, err := c.templates(ctx, links, cluster)
	if err != nil {
		return nil, err
	}
	scope := "namespace " + namespace
	if namespace == "" {
		scope = "all namespaces"
	}
	known := runs.NewCollection()
	server, err := ui.Listen(port, ui.Config{
		Runs: known, Backend: newClusterBackend(cluster), Scope: scope, Cluster: true, Links: to, Report: html.Linked(to), Explain: explain, Now: time.Now,
	})
	if err != nil {
		return nil, err
	}
	source := runs.Cluster{Reader: cluster, Namespace: namespace, Explain: explain}
	group.Go(func() error {
		source.Follow(ctx, known)
		return nil
	})
	group.Go(func() error { return server.Serve(ctx) })
	return server, nil
}
