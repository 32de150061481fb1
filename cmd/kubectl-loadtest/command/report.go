package command

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1alpha1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
)

func (c *config) report() *cobra.Command {
	var output string
	command := &cobra.Command{
		Use:   "report NAME",
		Short: "Print what a LoadTest measured",
		Long: "Print what a LoadTest has measured: all of it, or what there is so far.\n" +
			"The exit code does not depend on the verdict.",
		Example: "  kubectl loadtest report burst -n limiter\n" +
			"  kubectl loadtest report burst -n limiter -o json",
		Args: oneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			if output != "text" && output != "json" {
				return fmt.Errorf("--output must be text or json, not %q", output)
			}
			cluster, err := c.connect()
			if err != nil {
				return err
			}
			lt := &v1alpha1.LoadTest{}
			key := client.ObjectKey{Namespace: cluster.namespace, Name: args[0]}
			if err := cluster.Get(cmd.Context(), key, lt); err != nil {
				return fmt.Errorf("get LoadTest %s: %w", key, err)
			}
			return c.print(lt, output)
		},
	}
	command.Flags().StringVarP(&output, "output", "o", "text", "Form of the report: text, or json for the status as it is stored")
	return command
}

func (c *config) print(lt *v1alpha1.LoadTest, output string) error {
	if output == "json" {
		encoder := json.NewEncoder(c.streams.Out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(lt.Status)
	}
	_, err := fmt.Fprint(c.streams.Out, report.Text(lt))
	return err
}
