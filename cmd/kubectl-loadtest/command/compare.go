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
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/document"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/exitcode"
	"github.com/loadtest-dev/loadtest-operator/text"
)

func (c *config) compare() *cobra.Command {
	var files []string
	var output, failOn string
	command := &cobra.Command{
		Use:   "compare NAME... | compare -f FILE...",
		Short: "Put finished LoadTests side by side",
		Long: "Put finished LoadTests side by side: steps of the same name and load, the median of\n" +
			"their repetitions, and how far each differs from the first. LoadTests from files, as\n" +
			"report -o yaml writes them, come first.\n\n" +
			"A difference is the median of the ratios of all pairs of repetitions, one of each\n" +
			"LoadTest. With repetitions, it may be another than the ratio of the two medians.\n\n" +
			"A difference is marked better or worse where chance does not explain it: of 100\n" +
			"comparisons of runs of the same target, at most 5 have any mark by chance (Holm's\n" +
			"method, over all figures that are shown). With at least 3 repetitions of both, their\n" +
			"spread says how far figures differ by chance (Welch's test). With fewer, rates are\n" +
			"taken to differ by 5% from run to run and times by 35%, beside what was sampled, and\n" +
			"only large differences are marked. What all repetitions of a run have in common, such\n" +
			"as its nodes, no test tells from a change.\n\n" +
			"A difference has a range if both have at least 3 repetitions: the true difference\n" +
			"is below the range in at most 5% of comparisons, and above it in at most 5% (exact test\n" +
			"of Mann and Whitney).\n\n" +
			"--fail-on makes the exit code follow from the marks.\n\n" + compareExitCodes,
		Example: "  kubectl loadtest compare shortener-v3 shortener-v4\n" +
			"  kubectl loadtest compare -f v3.yaml shortener-v4 -o markdown\n" +
			"  kubectl loadtest compare shortener-v3 shortener-v4 -o html > compared.html\n" +
			"  kubectl loadtest compare -f main.json -f branch.json -o comment --fail-on Regression > comment.md",
		RunE: func(cmd *cobra.Command, args []string) error {
			on := comparison.FailOn(failOn)
			if err := checkComparison(output, failOn); err != nil {
				return err
			}
			tests, err := c.compared(cmd.Context(), files, args)
			if err != nil {
				return err
			}
			compared, err := comparison.New(tests)
			if err != nil {
				return err
			}
			page, err := comparedAs(compared, output)
			if err != nil {
				return err
			}
			if _, err = c.streams.Out.Write(page); err != nil || on == comparison.FailOnNever {
				return err
			}
			judged := compared.Judge(on)
			c.warn(fmt.Sprintf("compare: %s: %s", judged.Verdict, text.Clean(judged.Message, longestSentence)))
			return exitcode.Result(exitcode.Of(judged.Verdict))
		},
	}
	flags := command.Flags()
	flags.StringVarP(&output, "output", "o", "text", "Form of the comparison: text, markdown, comment, for a pull request, html, a page with plots that needs no network, or json, the differences alone")
	flags.StringVar(&failOn, "fail-on", string(comparison.FailOnNever), "Differences, beyond chance, with which the command fails: "+oneOfFailOns())
	flags.StringArrayVarP(&files, "filename", "f", nil, "File with LoadTests and their status, - for the standard input")
	return command
}

// comparedAs is a comparison in a form.
func comparedAs(compared *comparison.Comparison, output string) (page []byte, err error) {
	switch output {
	case "text":
		page = []byte(compared.Text())
	case "comment":
		page = []byte(compared.Comment())
	case "markdown":
		page = []byte(compared.Markdown())
	case "html":
		if page, err = compared.HTML(); err != nil {
			return nil, err
		}
	case "json":
		if page, err = compared.JSON(); err != nil {
			return nil, err
		}
	}
	return page, nil
}

// checkComparison refuses forms of a comparison, and what it fails on, that there are not.
func checkComparison(output, failOn string) error {
	forms := []string{"text", "markdown", "comment", "html", "json"}
	if !slices.Contains(forms, output) {
		return fmt.Errorf("--output must be one of %s, not %q", strings.Join(forms, ", "), output)
	}
	if !slices.Contains(comparison.FailOns(), comparison.FailOn(failOn)) {
		return fmt.Errorf("--fail-on must be one of %s, not %q", oneOfFailOns(), failOn)
	}
	return nil
}

// longestSentence bounds what is said of the differences: files may have names of any length.
const longestSentence = 1024

// compareExitCodes is the part of the help that describes them.
const compareExitCodes = `Exit code with --fail-on Regression (a figure is worse) and Change (worse or better):
  0    Passed: every step of the first LoadTest was compared, and no such difference is marked
  1    Failed: such a difference is marked
  2    Inconclusive: the LoadTests sent different traffic, one of them is neither Passed nor
       Failed, or nothing is marked and a step was not compared
  4    Error: the comparison could not be made
Without --fail-on it is 0 or 4.`

func oneOfFailOns() string {
	var names []string
	for _, on := range comparison.FailOns() {
		names = append(names, string(on))
	}
	return oneOf(names)
}

// compared are the LoadTests of the files and those of the cluster, in that order.
func (c *config) compared(ctx context.Context, files, names []string) ([]*v1beta1.LoadTest, error) {
	var tests []*v1beta1.LoadTest
	found, err := document.LoadTests(files, c.streams.In)
	if err != nil {
		return nil, err
	}
	for _, object := range found {
		lt := &v1beta1.LoadTest{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, lt); err != nil {
			return nil, fmt.Errorf("LoadTest %s: %w", document.DisplayName(object), err)
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
