package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/preview"
)

// planOutputs are the forms of a plan.
var planOutputs = []string{"text", "json", "yaml"}

func (c *config) plan() *cobra.Command {
	var o checkOptions
	var output string
	var server bool
	command := &cobra.Command{
		Use:   "plan -f FILE",
		Short: "Show what LoadTests would do, before anything is sent",
		Long: "Show the steps of LoadTests, the requests that are due, the workers, and how long it\n" +
			"takes, as the operator would plan them. Nothing is created and nothing is sent; no\n" +
			"cluster is needed. Refusals are reported as validate reports them.\n\n" +
			"With --server, plan also asks the cluster of the context whether it would accept the\n" +
			"LoadTest, and whether the Service, the ConfigMaps and the Secrets that it names are\n" +
			"there.\n\n" + policyHelp + "\n\n" + checkCodes,
		Example: "  kubectl loadtest plan -f ladder.yaml\n" +
			"  kubectl kustomize tests | kubectl loadtest plan -f - -o yaml\n" +
			"  kubectl loadtest plan -f ladder.yaml --server -n shop",
		Args: onlyFiles,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !slices.Contains(planOutputs, output) {
				return fmt.Errorf("--output must be one of %s, not %q", strings.Join(planOutputs, ", "), output)
			}
			return c.runPlan(cmd.Context(), &o, output, server)
		},
	}
	o.bind(command)
	command.Flags().StringVarP(&output, "output", "o", "text", "Form of the plan: "+strings.Join(planOutputs, ", "))
	command.Flags().BoolVar(&server, "server", false, "Also ask the cluster whether it would accept the LoadTest and has the objects that it names")
	return command
}

func (c *config) runPlan(ctx context.Context, o *checkOptions, output string, server bool) error {
	checked, err := o.check(ctx, c.streams.In, time.Now())
	if err != nil {
		return err
	}
	if server {
		if err := c.askServer(ctx, checked); err != nil {
			return err
		}
	}
	var plans []*preview.Preview
	for _, t := range checked.tests {
		if t.preview != nil {
			plans = append(plans, t.preview)
		}
	}
	if err := writePlans(c.streams.Out, plans, output); err != nil {
		return fmt.Errorf("write the plan: %w", err)
	}
	checked.say(c.streams.Err)
	return checked.exit()
}

// writePlans writes plans in one of the forms.
func writePlans(w io.Writer, plans []*preview.Preview, output string) error {
	for i, p := range plans {
		data, err := renderPlan(p, output)
		if err != nil {
			return err
		}
		if between := map[string]string{"text": "\n", "yaml": "---\n"}[output]; i > 0 {
			data = append([]byte(between), data...)
		}
		if _, err := w.Write(data); err != nil {
			return err
		}
	}
	return nil
}

func renderPlan(p *preview.Preview, output string) ([]byte, error) {
	switch output {
	case "json":
		data, err := json.MarshalIndent(p, "", "  ")
		return append(data, '\n'), err
	case "yaml":
		return yaml.Marshal(p)
	}
	return []byte(p.Text()), nil
}

// askServer adds what only the cluster can say of the LoadTests that are in order so far.
func (c *config) askServer(ctx context.Context, checked *checkedFiles) error {
	cluster, err := c.connect()
	if err != nil {
		return err
	}
	for _, t := range checked.tests {
		if t.preview == nil {
			continue
		}
		if err := cluster.place(t.Object); err != nil {
			return err
		}
		t.preview.Namespace = t.Object.GetNamespace()
		problems, err := cluster.review(ctx, t.Object, &t.loadTest.Spec)
		if err != nil {
			return err
		}
		for _, p := range problems {
			t.refuseField(p.Field, p.Message)
		}
	}
	return nil
}
