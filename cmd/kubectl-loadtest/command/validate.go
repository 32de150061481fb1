package command

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/document"
)

func (c *config) validate() *cobra.Command {
	var o checkOptions
	command := &cobra.Command{
		Use:   "validate -f FILE",
		Short: "Check LoadTests and LoadTestSchedules by the API's own rules, without a cluster",
		Long: "Check the LoadTests in files, and what LoadTestSchedules start, as the API server and\n" +
			"the operator do: fields that do not exist, the schema and its rules, whether the plan can\n" +
			"be carried out, and which targets the policy allows. No cluster is needed.\n\n" +
			"A file may hold several documents, Lists, and objects of other kinds, as kustomize\n" +
			"builds them. Other objects are ignored, except ConfigMaps and Secrets: one that is in the\n" +
			"files must have the keys that LoadTests name.\n\n" + policyHelp + "\n\n" + checkCodes,
		Example: "  kubectl loadtest validate -f hello.yaml\n" +
			"  kubectl kustomize tests | kubectl loadtest validate -f -\n" +
			"  kubectl loadtest validate -f staging.yaml --config config.yaml",
		Args: onlyFiles,
		RunE: func(cmd *cobra.Command, _ []string) error {
			checked, err := o.check(cmd.Context(), c.streams.In, time.Now())
			if err != nil {
				return err
			}
			checked.say(c.streams.Err)
			for _, t := range checked.tests {
				if t.refused {
					continue
				}
				if _, err := fmt.Fprintf(c.streams.Out, "%s: %s %s is valid: %s\n", t.Path, t.Object.GetKind(), document.DisplayName(t.Object), t.preview.Summary()); err != nil {
					return fmt.Errorf("write the result: %w", err)
				}
			}
			return checked.exit()
		},
	}
	o.bind(command)
	return command
}
