package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/ui/runs"
	"github.com/loadtest-dev/loadtest-operator/text"
)

func (c *config) trend() *cobra.Command {
	var files []string
	var output, folder string
	command := &cobra.Command{
		Use:   "trend NAME [--from FOLDER] | trend -f FILE...",
		Short: "Show the runs of a schedule or of a name, and which of them changed the level",
		Long: "List the finished runs of a LoadTestSchedule, or of a name that is counted (burst-1,\n" +
			"burst-2), the oldest first, with what each sustained and its p95, and say from which run\n" +
			"on the level is another. A level has at least three runs; a single run that is far off\n" +
			"is none, and runs that ended as Error, Canceled or Inconclusive count for nothing.\n" +
			"Without a change, it reports one in 1 of 100 histories of 60 runs, and in 7 of 100 of 10\n" +
			"runs; it finds a change of 20% among runs that differ by 5% in 97 of 100.\n\n" +
			"The LoadTests of files, as report -o yaml writes them, are taken for runs of one name. Of a\n" +
			"run with loads, p95 is that of all requests of all loads, and nothing is sustained.\n" +
			"--from is a folder of archives as the operator writes them, NAMESPACE/NAME/UID.json.gz, or\n" +
			"where they are in an object store, s3://BUCKET/PREFIX, which is read with the credentials,\n" +
			"the region and the endpoint of AWS_ACCESS_KEY_ID and the other variables of the AWS CLI.",
		Example: "  kubectl loadtest trend nightly -n shop\n" +
			"  kubectl loadtest trend nightly -o json\n" +
			"  kubectl loadtest trend nightly -n shop --from ./load-tests/cluster-a\n" +
			"  kubectl loadtest trend nightly -n shop --from s3://load-tests/cluster-a\n" +
			"  kubectl loadtest trend -f results.yaml",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains([]string{"text", "json"}, output) {
				return fmt.Errorf("--output must be text or json, not %q", output)
			}
			switch {
			case (len(args) == 0) == (len(files) == 0):
				return errors.New("give the name of a schedule or of runs, or files with -f")
			case len(args) == 0 && folder != "":
				return errors.New("give either -f or --from, not both")
			}
			family, err := c.family(cmd.Context(), args, files, folder)
			if err != nil {
				return err
			}
			return writeTrend(c.streams.Out, family, output)
		},
	}
	command.Flags().StringVarP(&output, "output", "o", "text", "Form: text, or json, the changes alone")
	command.Flags().StringArrayVarP(&files, "filename", "f", nil, "File with finished LoadTests and their status, - for the standard input")
	command.Flags().StringVar(&folder, "from", "", "Folder, or s3://BUCKET/PREFIX, with the archives of runs, as the operator keeps them, in place of the cluster")
	return command
}

// family are the finished runs of a name, or of files, the oldest first.
func (c *config) family(ctx context.Context, args, files []string, folder string) ([]*runs.Run, error) {
	var list []*runs.Run
	add := func(lt *v1beta1.LoadTest) {
		if r := runs.New(lt); r.Finished {
			list = append(list, r)
		}
	}
	var err error
	where := ""
	switch {
	case len(args) == 0:
		var tests []*v1beta1.LoadTest
		if tests, err = c.compared(ctx, files, nil); err != nil {
			return nil, err
		}
		for _, lt := range tests {
			if !isLoadOf(tests, lt) {
				add(lt)
			}
		}
	case folder != "":
		where, err = c.eachArchived(ctx, folder, args[0], add)
	default:
		var cluster *cluster
		if cluster, err = c.connect(); err != nil {
			return nil, err
		}
		where, err = "namespace "+cluster.namespace, cluster.eachLoadTest(ctx, "", add)
	}
	if err != nil {
		return nil, err
	}
	if len(args) == 0 && len(list) == 0 {
		return nil, fmt.Errorf("-f %s: has no LoadTest that has finished", strings.Join(files, ", "))
	}
	if len(args) > 0 {
		list = slices.DeleteFunc(list, func(r *runs.Run) bool { return r.Family != args[0] })
		if len(list) == 0 {
			return nil, fmt.Errorf("%s has no finished run of schedule or name %s", where, args[0])
		}
	}
	slices.SortStableFunc(list, func(a, b *runs.Run) int { return runs.Newer(b, a) })
	return list, nil
}

// isLoadOf says whether a LoadTest carries out a load of another one.
func isLoadOf(tests []*v1beta1.LoadTest, one *v1beta1.LoadTest) bool {
	return slices.ContainsFunc(tests, func(lt *v1beta1.LoadTest) bool {
		return lt.Namespace == one.Namespace && slices.Contains(report.LoadTests(&lt.Status), one.Name)
	})
}

// eachArchived calls a function with each run in a folder of archives whose name begins as one does,
// and returns what the folder is. What cannot be read is said, and left out.
func (c *config) eachArchived(ctx context.Context, folder, name string, do func(*v1beta1.LoadTest)) (where string, err error) {
	namespace, err := c.namespace()
	if err != nil {
		return "", err
	}
	at, remove, err := c.fetch(ctx, folder, namespace, name, mostArchives)
	if err != nil {
		return "", err
	}
	defer remove()
	files, left, err := archives(at, namespace, name)
	if err != nil {
		return "", err
	}
	if left > 0 {
		c.warn(leftOut(left))
	}
	for _, file := range files {
		lt, _, err := c.readArchive(file)
		if err != nil {
			c.warn("Left out: " + err.Error())
			continue
		}
		do(lt)
	}
	return fmt.Sprintf("folder %s/%s", folder, namespace), nil
}

func writeTrend(w io.Writer, family []*runs.Run, output string) error {
	changes := runs.LevelChanges(family)
	if output == "json" {
		if changes == nil {
			changes = []runs.LevelChange{}
		}
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		return encoder.Encode(changes)
	}
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintln(table, "RUN\tCREATED\tVERDICT\tSUSTAINED\tP95") // Flush has the error
	for _, r := range family {
		late := ""
		if r.Late > 0 {
			late = text.Short(r.Late)
		}
		line(table, []string{r.Name, r.Created.UTC().Format("2006-01-02 15:04"), string(r.Verdict), r.Sustained, late})
	}
	if err := table.Flush(); err != nil {
		return err
	}
	switch {
	case !runs.HaveLevels(family):
		_, err := fmt.Fprintf(w, "\nToo few runs to tell a change of a level: it takes %d that passed or failed, and were measured.\n", runs.LeastRuns)
		return err
	case len(changes) == 0:
		_, err := fmt.Fprintln(w, "\nNo run changed the level of what was sustained, or of p95.")
		return err
	}
	_, _ = fmt.Fprintln(w) // the next has the error
	for _, change := range changes {
		if _, err := fmt.Fprintln(w, text.Lines(change.String())); err != nil {
			return err
		}
	}
	return nil
}
