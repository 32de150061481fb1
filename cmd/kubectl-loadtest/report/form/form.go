package form

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/hgrm"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/html"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/junit"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/markdown"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/vegeta"
	"github.com/loadtest-dev/loadtest-operator/measure/archive"
)

// Names are the forms of a report, in the order of the help.
var Names = []string{"text", "markdown", "html", "json", "yaml", "junit", "hgrm", "vegeta", "vegeta-text"}

// ofSteps are the forms that are of one step.
var ofSteps = []string{"hgrm", "vegeta", "vegeta-text"}

// Check refuses a form that does not exist, and names those that do.
func Check(output string) error {
	if slices.Contains(Names, output) {
		return nil
	}
	return fmt.Errorf("--output must be one of %s, not %q", strings.Join(Names, ", "), output)
}

// CheckStep refuses a form that does not exist, and a step for one that is of all steps.
func CheckStep(output, step string) error {
	if step != "" && slices.Contains(Names, output) && !slices.Contains(ofSteps, output) {
		return fmt.Errorf("--step needs -o %s: -o %s is of all steps", strings.Join(ofSteps, " or "), output)
	}
	return Check(output)
}

// Render is the report of a LoadTest in one of the forms. Step is the one whose
// distribution hgrm holds, and that vegeta reports; html draws the steps of which there
// are results beyond their summary.
func Render(lt *v1beta1.LoadTest, archived []*archive.Step, output, step string) ([]byte, error) {
	if names := report.LoadTests(&lt.Status); len(names) > 0 && slices.Contains(ofSteps, output) {
		return nil, fmt.Errorf("LoadTest %s sends several loads, and each has steps of its own: report %s", lt.Name, strings.Join(names, " or "))
	}
	switch output {
	case "markdown":
		return []byte(markdown.Report(lt)), nil
	case "html":
		return html.Report(lt, archived)
	case "json":
		data, err := json.MarshalIndent(Stored(lt), "", "  ")
		return append(data, '\n'), err
	case "yaml":
		return yaml.Marshal(Stored(lt))
	case "junit":
		return junit.Report(lt)
	case "hgrm":
		return hgrm.Report(lt, step)
	case "vegeta":
		return vegeta.JSON(lt, step)
	case "vegeta-text":
		return vegeta.Text(lt, step)
	}
	return []byte(report.Text(lt)), nil
}

// RenderAll is the report of a LoadTest with the reports of the loads that it sent side by side: in the forms
// for people they stand under it, and in junit each is a test suite. The archived steps are of any of them.
func RenderAll(lt *v1beta1.LoadTest, loads []*v1beta1.LoadTest, archived []*archive.Step, output, step string) ([]byte, error) {
	switch output {
	case "junit":
		return junit.Report(lt, loads...)
	case "html":
		return html.Report(lt, archived, loads...)
	case "markdown":
		return []byte(markdown.Report(lt, loads...)), nil
	case "text":
		all := report.Text(lt)
		for _, one := range loads {
			all += "\n" + report.LoadTitle(lt, one.Name) + "\n\n" + report.Text(one)
		}
		return []byte(all), nil
	}
	return Render(lt, archived, output, step)
}

// RenderLocal is the report of a run on this machine. No cluster has the LoadTests of its loads: json and yaml
// are then a List of all, which report reads.
func RenderLocal(lt *v1beta1.LoadTest, loads []*v1beta1.LoadTest, archived []*archive.Step, output string) ([]byte, error) {
	if len(loads) == 0 || output != "json" && output != "yaml" {
		return RenderAll(lt, loads, archived, output, "")
	}
	list := struct {
		APIVersion string              `json:"apiVersion"`
		Kind       string              `json:"kind"`
		Items      []*v1beta1.LoadTest `json:"items"`
	}{"v1", "List", []*v1beta1.LoadTest{Stored(lt)}}
	for _, one := range loads {
		list.Items = append(list.Items, Stored(one))
	}
	if output == "yaml" {
		return yaml.Marshal(list)
	}
	data, err := json.MarshalIndent(list, "", "  ")
	return append(data, '\n'), err
}

// CheckLocal refuses a form for a run on this machine that could not have it, before anything is sent: several
// says whether more than one step sends anything.
func CheckLocal(lt *v1beta1.LoadTest, several bool, output string) error {
	if len(lt.Spec.Loads) > 0 && slices.Contains(ofSteps, output) {
		return fmt.Errorf("-o %s: LoadTest %s sends several loads, and each has steps of its own: use -o yaml > FILE, and then report -f FILE NAME -o %[1]s, with the name of the LoadTest of a load",
			output, lt.Name)
	}
	if slices.Contains(ofSteps, output) && several {
		return fmt.Errorf("-o %s: LoadTest %s measures several steps, and this form holds one: use -o yaml > FILE, and then report -f FILE -o %[1]s --step NAME", output, lt.Name)
	}
	return nil
}

// Stored is a LoadTest as it is saved, and read by report -f: without the record of
// who wrote which field.
func Stored(lt *v1beta1.LoadTest) *v1beta1.LoadTest {
	saved := lt.DeepCopy()
	saved.ManagedFields = nil
	saved.SetGroupVersionKind(v1beta1.GroupVersion.WithKind("LoadTest"))
	return saved
}
