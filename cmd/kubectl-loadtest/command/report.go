package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/document"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/form"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/html"
)

func (c *config) report() *cobra.Command {
	var output, step string
	var from source
	var to linkOptions
	command := &cobra.Command{
		Use:   "report NAME | report -f FILE [NAME] | report --from FILE",
		Short: "Print what a LoadTest measured",
		Long: "Print what a LoadTest has measured: all of it, or what there is so far.\n" +
			"With -f it is read from a file, such as kubectl get loadtest NAME -o yaml or\n" +
			"report -o yaml writes, and needs no cluster; of a run with loads that run --local -o yaml\n" +
			"wrote, a name gives the report of one load; without it, the reports of the loads\n" +
			"stand below that of the run. The page has plots over time if the ConfigMaps of\n" +
			"status.resultRefs can be read: in the cluster, or in the file.\n" +
			"With --from it is read from the operator's archive of finished runs: the file of a\n" +
			"run, or a folder, from which it takes the most recent run of that name. Files\n" +
			"may be compressed with gzip.\n" +
			"The exit code does not depend on the verdict.\n\n" +
			"  text      for people, in the terminal\n" +
			"  markdown  for a pull request\n" +
			"  html      one page with plots, which needs no network\n" +
			"  json      the LoadTest as it is stored; yaml likewise\n" +
			"  junit     for CI: a test case for the verdict, each step, threshold and audit\n" +
			"  hgrm      a step's response times, for HdrHistogram's tools\n" +
			"  vegeta    a step as vegeta report -type=json writes it, vegeta-text as text",
		Example: "  kubectl loadtest report burst -n limiter\n" +
			"  kubectl loadtest report burst -n limiter -o html > burst.html\n" +
			"  kubectl loadtest report burst -o hgrm --step steady > steady.hgrm\n" +
			"  kubectl loadtest report -f saved.yaml -o junit\n" +
			"  kubectl loadtest report --from s3://load-tests/shop/checkout/6a0c.json.gz\n" +
			"  kubectl loadtest report checkout -n shop --from ./load-tests -o markdown",
		Args: from.args,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := form.CheckStep(output, step); err != nil {
				return err
			}
			lt, found, err := c.reported(cmd.Context(), from, args, output == "html")
			if err != nil {
				return err
			}
			var data []byte
			if output == "html" {
				data, err = c.linked(cmd.Context(), &to, from, lt, found)
			} else {
				data, err = form.RenderAll(lt, found.loads, found.steps, output, step)
			}
			if err != nil {
				return err
			}
			_, err = c.streams.Out.Write(data)
			return errors.Join(err, found.changed)
		},
	}
	flags := command.Flags()
	flags.StringVarP(&output, "output", "o", "text", "Form of the report: "+strings.Join(form.Names, ", "))
	flags.StringVar(&step, "step", "", "With -o hgrm and vegeta: the step to report; needed if several steps were measured")
	flags.StringVarP(&from.file, "filename", "f", "", "File with a LoadTest and its status, - for the standard input")
	flags.StringVar(&from.kept, "from", "", "Archive of a run: its file, - for the standard input, a folder with NAMESPACE/NAME/UID.json.gz, or either in an object store, as s3://BUCKET/PREFIX")
	to.bind(flags)
	return command
}

// linked is the page of a report, with links.
func (c *config) linked(ctx context.Context, o *linkOptions, from source, lt *v1beta1.LoadTest, found archived) ([]byte, error) {
	var asked *cluster
	if from == (source{}) {
		var err error
		if asked, err = c.connect(); err != nil {
			return nil, err
		}
	}
	to, err := c.templates(ctx, o, asked)
	if err != nil {
		return nil, err
	}
	return html.Linked(to)(lt, found.steps, found.loads...)
}

// reported is the LoadTest that a report is about, with the LoadTests of its loads and, if they are wanted,
// the results of its steps beyond their summary. The report is made without what cannot be read of them.
func (c *config) reported(ctx context.Context, from source, args []string, wanted bool) (*v1beta1.LoadTest, archived, error) {
	if from != (source{}) {
		folder := from.kept
		remove, err := c.fetchReported(ctx, &from, args)
		if err != nil {
			return nil, archived{}, err
		}
		defer remove()
		lt, found, err := c.saved(from, args)
		if err == nil && isFolder(from.kept) {
			c.addLoads(ctx, folder, lt, &found)
		}
		return lt, found, err
	}
	cluster, err := c.connect()
	if err != nil {
		return nil, archived{}, err
	}
	lt, err := cluster.get(ctx, args[0])
	if err != nil {
		return nil, archived{}, err
	}
	loads, err := cluster.loadsOf(ctx, lt)
	if err != nil || !wanted {
		return lt, archived{loads: loads}, err
	}
	return lt, c.archived(cluster.resultsOf(ctx, lt), lt, loads), nil
}

// loadsOf are the LoadTests of the loads of a LoadTest, as far as they exist.
func (c *cluster) loadsOf(ctx context.Context, lt *v1beta1.LoadTest) (list []*v1beta1.LoadTest, err error) {
	for _, l := range lt.Status.Loads {
		one := &v1beta1.LoadTest{}
		switch err := c.Get(ctx, client.ObjectKey{Namespace: lt.Namespace, Name: l.Test}, one); {
		case err == nil && string(one.UID) == l.UID:
			list = append(list, one)
		case client.IgnoreNotFound(err) != nil:
			return nil, fmt.Errorf("get LoadTest %s of load %s: %w", l.Test, l.Name, err)
		}
	}
	return list, nil
}

func (c *cluster) get(ctx context.Context, name string) (*v1beta1.LoadTest, error) {
	lt := &v1beta1.LoadTest{}
	key := client.ObjectKey{Namespace: c.namespace, Name: name}
	if err := c.Get(ctx, key, lt); err != nil {
		return nil, fmt.Errorf("get LoadTest %s: %w", key, err)
	}
	return lt, nil
}

// readSaved reads a LoadTest of a file, and its results if they are there.
func (c *config) readSaved(file, name string) (*v1beta1.LoadTest, archived, error) {
	lt, loads, kept, err := c.readNamed(file, name)
	if err != nil || len(kept) == 0 {
		return lt, archived{loads: loads}, err
	}
	return lt, c.archived(kept.find, lt, loads), nil
}

// keptResults are the ConfigMaps of a file by their names.
type keptResults map[string]*corev1.ConfigMap

func (k keptResults) find(name string) (*corev1.ConfigMap, error) {
	if results := k[name]; results != nil {
		return results, nil
	}
	return nil, errors.New("it is not in the file")
}

// readArchive reads the LoadTest of a file and the ConfigMaps beside it.
func (c *config) readArchive(file string) (*v1beta1.LoadTest, keptResults, error) {
	lt, _, kept, err := c.readNamed(file, "")
	return lt, kept, err
}

// readNamed reads the LoadTest of a name in a file, and the ConfigMaps beside it. Without a name it is the only
// one, or the one whose loads the others are, which are returned, too.
func (c *config) readNamed(file, name string) (*v1beta1.LoadTest, []*v1beta1.LoadTest, keptResults, error) {
	found, err := document.Objects([]string{file}, c.streams.In, checkSaved)
	if err != nil {
		return nil, nil, nil, err
	}
	kept := keptResults{}
	var tests []*v1beta1.LoadTest
	for _, object := range found {
		lt, results := &v1beta1.LoadTest{}, &corev1.ConfigMap{}
		if document.IsLoadTest(object) {
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, lt); err != nil {
				return nil, nil, nil, fmt.Errorf("-f %s: %w", file, err)
			}
			tests = append(tests, lt)
			continue
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, results); err != nil {
			return nil, nil, nil, fmt.Errorf("-f %s: ConfigMap %s: %w", file, object.GetName(), err)
		}
		kept[results.Name] = results
	}
	lt, loads := chosen(tests, name)
	switch {
	case lt != nil:
		return lt, loads, kept, nil
	case name != "":
		return nil, nil, nil, fmt.Errorf("-f %s: holds no LoadTest %s; it has %s", file, name, strings.Join(namesOf(tests), ", "))
	}
	return nil, nil, nil, fmt.Errorf("-f %s: holds %d LoadTests; a report is about one", file, len(tests))
}

// chosen is the LoadTest of a name; without a name the only one, or the one that has all others as its
// loads, and these. nil: there is none.
func chosen(tests []*v1beta1.LoadTest, name string) (lt *v1beta1.LoadTest, loads []*v1beta1.LoadTest) {
	for _, lt := range tests {
		var of []*v1beta1.LoadTest
		for _, l := range lt.Status.Loads {
			if at := slices.IndexFunc(tests, func(t *v1beta1.LoadTest) bool { return t.Name == l.Test && t.Namespace == lt.Namespace }); at >= 0 {
				of = append(of, tests[at])
			}
		}
		if lt.Name == name || name == "" && len(tests) == len(of)+1 {
			return lt, of
		}
	}
	return nil, nil
}

func namesOf(tests []*v1beta1.LoadTest) (names []string) {
	for _, lt := range tests {
		names = append(names, lt.Name)
	}
	return names
}
