package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/overview"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/form"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// listOutputs are the forms of a list; "" is a table.
var listOutputs = []string{"", "wide", "json", "yaml", "name"}

// listOptions are the flags of list.
type listOptions struct {
	all                    bool
	output, sort, selector string
}

func (c *config) list() *cobra.Command {
	var o listOptions
	command := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List LoadTests; those that need attention come first",
		Long: "List LoadTests; those that need attention come first: runs that have a problem, then those\n" +
			"that ended as Error, Failed and Inconclusive, then what is held, what runs, and what\n" +
			"was canceled or passed. Within each group, the newest is first. The last column says what\n" +
			"is wrong. Below them are the LoadTestSchedules, if there are any.",
		Example: "  kubectl loadtest list -A\n" +
			"  kubectl loadtest list -n shop -l team=checkout -o wide\n" +
			"  kubectl loadtest list --sort age -o name",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return err
			}
			return c.runList(cmd.Context(), &o)
		},
	}
	flags := command.Flags()
	flags.BoolVarP(&o.all, "all-namespaces", "A", false, "List the LoadTests of all namespaces")
	flags.StringVarP(&o.output, "output", "o", "", "Form of the list: wide, json, yaml, name; default: a table")
	flags.StringVar(&o.sort, "sort", overview.ByAttention, "Order of the list: "+strings.Join(overview.Orders, ", "))
	flags.StringVarP(&o.selector, "selector", "l", "", "Label selector, such as team=checkout")
	return command
}

func (o *listOptions) check() error {
	if !slices.Contains(listOutputs, o.output) {
		return fmt.Errorf("--output must be one of %s, not %q", strings.Join(listOutputs[1:], ", "), o.output)
	}
	if !slices.Contains(overview.Orders, o.sort) {
		return fmt.Errorf("--sort must be one of %s, not %q", strings.Join(overview.Orders, ", "), o.sort)
	}
	if _, err := labels.Parse(o.selector); err != nil {
		return fmt.Errorf("--selector: %w", err)
	}
	return nil
}

func (c *config) runList(ctx context.Context, o *listOptions) error {
	cluster, err := c.connect()
	if err != nil {
		return err
	}
	if o.all {
		cluster.namespace = ""
	}
	// A table needs little of each: the rest of a page is given up with it.
	keep := o.output == "json" || o.output == "yaml"
	var rows []overview.Row
	err = cluster.eachLoadTest(ctx, o.selector, func(lt *v1beta1.LoadTest) {
		row := overview.New(lt)
		if keep {
			row.LoadTest = form.Stored(lt)
		}
		rows = append(rows, row)
	})
	if err != nil {
		return err
	}
	overview.Sort(rows, o.sort)
	if err := writeList(c.streams.Out, rows, o, time.Now()); err != nil {
		return fmt.Errorf("write the list: %w", err)
	}
	if len(rows) == 0 && !keep {
		_, _ = fmt.Fprintln(c.streams.Err, "There are no LoadTests"+where(cluster.namespace)+".")
	}
	if !isTable(o.output) {
		return nil
	}
	return c.listSchedules(ctx, cluster, o, len(rows) > 0)
}

func where(namespace string) string {
	if namespace == "" {
		return ""
	}
	return " in namespace " + namespace
}

// page is how many LoadTests are read at a time: each may have some hundred KB.
const page = 50

// eachLoadTest reads the LoadTests of the namespace, or of all.
func (c *cluster) eachLoadTest(ctx context.Context, selector string, do func(*v1beta1.LoadTest)) error {
	matching, err := labels.Parse(selector)
	if err != nil {
		return err
	}
	var list v1beta1.LoadTestList
	for {
		if err := c.List(ctx, &list, client.InNamespace(c.namespace), client.MatchingLabelsSelector{Selector: matching},
			client.Limit(page), client.Continue(list.Continue)); err != nil {
			return fmt.Errorf("list LoadTests: %w", err)
		}
		for i := range list.Items {
			do(&list.Items[i])
		}
		if list.Continue == "" {
			return nil
		}
		list.Items = nil
	}
}

func writeList(w io.Writer, rows []overview.Row, o *listOptions, now time.Time) error {
	switch o.output {
	case "name":
		for _, r := range rows {
			if _, err := fmt.Fprintf(w, "loadtest.%s/%s\n", v1beta1.GroupVersion.Group, r.Name); err != nil {
				return err
			}
		}
		return nil
	case "json", "yaml":
		return writeObjects(w, rows, o.output)
	}
	return writeTable(w, rows, o, now)
}

// writeObjects writes the LoadTests as kubectl get does.
func writeObjects(w io.Writer, rows []overview.Row, output string) error {
	list := v1beta1.LoadTestList{TypeMeta: metav1.TypeMeta{APIVersion: v1beta1.GroupVersion.String(), Kind: "LoadTestList"}, Items: []v1beta1.LoadTest{}}
	for _, r := range rows {
		list.Items = append(list.Items, *r.LoadTest)
	}
	data, err := json.MarshalIndent(list, "", "  ")
	if err == nil && output == "yaml" {
		data, err = yaml.JSONToYAML(data)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, strings.TrimRight(string(data), "\n"))
	return err
}

// isTable says whether a form of the list is for people.
func isTable(output string) bool { return output == "" || output == "wide" }

func writeTable(w io.Writer, rows []overview.Row, o *listOptions, now time.Time) error {
	if len(rows) == 0 {
		return nil
	}
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	heads := []string{"NAME", "PHASE", "STEP", "GOODPUT", "P95", "ERRORS", "VERDICT", "AGE", "ATTENTION"}
	cells := func(r *overview.Row) []string {
		return []string{r.Name, r.Phase, r.Step, r.Goodput, r.P95, r.Errors, r.Verdict, duration.HumanDuration(now.Sub(r.Created)), brief(r.Attention)}
	}
	if o.output == "wide" {
		heads = slices.Insert(heads, 3, "WORKERS", "TARGET")
		narrow := cells
		cells = func(r *overview.Row) []string {
			wide := slices.Insert(narrow(r), 3, r.Workers, r.Target)
			wide[len(wide)-1] = r.Attention
			return wide
		}
	}
	if o.all {
		heads = slices.Insert(heads, 0, "NAMESPACE")
		named := cells
		cells = func(r *overview.Row) []string { return slices.Insert(named(r), 0, r.Namespace) }
	}
	line(table, heads)
	for i := range rows {
		line(table, cells(&rows[i]))
	}
	return table.Flush()
}

// line writes a row. What a LoadTest says may be of anyone.
func line(table io.Writer, cells []string) {
	for i := range cells {
		cells[i] = strings.ReplaceAll(text.Lines(cells[i]), "\n", " ")
	}
	_, _ = fmt.Fprintln(table, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
}

// brief is a sentence as far as it fits beside a table.
func brief(sentence string) string {
	const width = 60
	if runes := []rune(sentence); len(runes) > width {
		return strings.TrimRight(string(runes[:width-1]), " ") + "…"
	}
	return sentence
}
