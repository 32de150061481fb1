package command

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/comparison"
)

func (c *config) compare() *cobra.Command {
	var files []string
	var output string
	command := &cobra.Command{
		Use:   "compare NAME... | compare -f FILE...",
		Short: "Put finished LoadTests side by side",
		Long: "Put finished LoadTests side by side: steps of the same name and load, the median of\n" +
			"their repetitions, and how far each differs from the first. LoadTests from files, as\n" +
			"report -o yaml writes them, come first.\n\n" +
			"A difference is marked better or worse where chance does not explain it: of 100\n" +
			"comparisons of runs of the same target, at most 5 have any mark by chance (Holm's\n" +
			"method, over all figures that are shown). With at least 3 repetitions of both, their\n" +
			"spread says how far figures differ by chance (Welch's test). With fewer, rates are\n" +
			"taken to differ by 5% from run to run and times by 35%, beside what was sampled, and\n" +
			"only large differences are marked. What all repetitions of a run have in common, such\n" +
			"as its nodes, no test tells from a change.\n\n" +
			"A difference has a range if both have at least 3 repetitions: the true difference\n" +
			"is below the range in at most 5% of comparisons, and above it in at most 5% (exact test\n" +
			"of Mann and Whitney).",
		Example: "  kubectl loadtest compare shortener-v3 shortener-v4\n" +
			"  kubectl loadtest compare -f v3.yaml shortener-v4 -o markdown\n" +
			"  kubectl loadtest compare shortener-v3 shortener-v4 -o html > compared.html",
		RunE: func(cmd *cobra.Command, args []string) error {
			forms := []string{"text", "markdown", "html", "json"}
			if !slices.Contains(forms, output) {
				return fmt.Errorf("--output must be one of %s, not %q", strings.Join(forms, ", "), output)
			}
			tests, err := c.compared(cmd.Context(), files, args)
			if err != nil {
				return err
			}
			compared, err := comparison.New(tests)
			if err != nil {
				return err
			}
			var page []byte
			switch output {
			case "text":
				page = []byte(compared.Text())
			case "markdown":
				page = []byte(compared.Markdown())
			case "html":
				if page, err = compared.HTML(); err != nil {
					return err
				}
			case "json":
				if page, err = compared.JSON(); err != nil {
					return err
				}
			}
			_, err = c.streams.Out.Write(page)
			return err
		},
	}
	flags := command.Flags()
	flags.StringVarP(&output, "output", "o", "text", "Form of the comparison: text, markdown, html, a page with plots that needs no network, or json, the differences alone")
	flags.StringArrayVarP(&files, "filename", "f", nil, "File with LoadTests and their status, - for the standard input")
	return command
}

// compared are the LoadTests of the files and those of the cluster, in that order.
func (c *config) compared(ctx context.Context, files, names []string) ([]*v1beta1.LoadTest, error) {
	var tests []*v1beta1.LoadTest
	found, err := readManifests(files, c.streams.In)
	if err != nil {
		return nil, err
	}
	for _, object := range found {
		lt := &v1beta1.LoadTest{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, lt); err != nil {
			return nil, fmt.Errorf("LoadTest %s: %w", displayName(object), err)
		}
		tests = append(tests, lt)
	}
	if len(names) == 0 {
		return tests, nil
	}
	cluster, err := c.connect()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		lt, err := cluster.get(ctx, name)
		if err != nil {
			return nil, err
		}
		tests = append(tests, lt)
	}
	return tests, nil
}
