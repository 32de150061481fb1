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
			render, ok := renderers[output]
			if !ok {
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
			text, err := render(lt)
			if err != nil {
				return fmt.Errorf("render LoadTest %s: %w", key, err)
			}
			_, err = fmt.Fprint(c.streams.Out, text)
			return err
		},
	}
	command.Flags().StringVarP(&output, "output", "o", "text", "Form of the report: text, or json for the status as it is stored")
	return command
}

// renderers are the forms of a report by their names.
var renderers = map[string]func(*v1alpha1.LoadTest) (string, error){
	"text": func(lt *v1alpha1.LoadTest) (string, error) { return report.Text(lt), nil },
	"json": func(lt *v1alpha1.LoadTest) (string, error) {
		data, err := json.MarshalIndent(lt.Status, "", "  ")
		return string(data) + "\n", err
	},
}
