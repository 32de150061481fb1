package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/admission"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/document"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/exitcode"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/local"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/localcommand"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/preview"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/templates"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtestschedule/decision"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// policyHelp is the part of the help that is about the operator's policy.
const policyHelp = `The administrator decides what is allowed, in the operator's configuration.
To apply that configuration here, give it as --config; without it, a target that is not a Service of
the cluster is only a warning. Users who may read it get it from the cluster with

  kubectl get configmap -n loadtest-system loadtest-operator-config -o jsonpath='{.data.config\.yaml}'

The rules for the LoadTest's metadata.namespace apply.`

// checkCodes is the part of the help that describes the exit codes.
const checkCodes = `Exit code:
  0  all are valid
  1  one is invalid: the output says which, where and why
  4  a file could not be read`

// checkOptions are the flags of the commands that check LoadTests without running them.
type checkOptions struct {
	files []string
	// config is the file with the operator's configuration; empty: it is not known.
	config string
	// release is the image of the operator's release; empty: it is not known.
	release string
}

func (o *checkOptions) bind(command *cobra.Command) {
	flags := command.Flags()
	flags.StringArrayVarP(&o.files, "filename", "f", nil, "File with LoadTests, - for the standard input; may be given several times")
	flags.StringVar(&o.config, "config", "", "File with the operator's configuration, by which LoadTests are checked")
	flags.StringVar(&o.release, "worker-image", "", "Image of the operator's release, which spec.worker.image may always name")
	if err := command.MarkFlagRequired("filename"); err != nil {
		panic(err) // the flag is defined some lines above
	}
}

// checkedFiles are the LoadTests of files, and what is wrong with them.
type checkedFiles struct {
	tests    []*checkedTest
	problems []problem
	warnings []problem
}

// checkedTest is a LoadTest of a file, or what a LoadTestSchedule of a file starts.
type checkedTest struct {
	document.Document
	files *checkedFiles
	// above is the path of what holds the LoadTest's fields: "" or that of a schedule's template.
	above    string
	loadTest *v1beta1.LoadTest
	// preview is nil when there is no plan.
	preview *preview.Preview
	refused bool
}

// problem is a sentence about a field of an object of a file.
type problem struct {
	document.Document
	field, message string
}

// policy is that of --config, or of an operator without a configuration.
func (o *checkOptions) policy() (*preview.Policy, error) {
	var document []byte
	if o.config != "" {
		var err error
		if document, err = os.ReadFile(o.config); err != nil {
			return nil, fmt.Errorf("--config: %w", err)
		}
	}
	policy, err := preview.LoadPolicy(document)
	if err != nil {
		return nil, fmt.Errorf("--config %s: %w", o.config, err)
	}
	return policy, nil
}

// check reads the files and checks their LoadTests. The error is of what keeps all of
// them from being checked.
func (o *checkOptions) check(ctx context.Context, stdin io.Reader, now time.Time) (*checkedFiles, error) {
	policy, err := o.policy()
	if err != nil {
		return nil, err
	}
	checked, files := &checkedFiles{}, &local.Objects{}
	for _, path := range o.files {
		documents, err := document.Read(path, stdin)
		if err != nil {
			return nil, err
		}
		if err := checked.take(path, documents, files); err != nil {
			return nil, err
		}
	}
	review, err := newReviews(checked.tests)
	if err != nil {
		return nil, err
	}
	for _, t := range checked.tests {
		t.admit(ctx, review)
		if t.loadTest != nil {
			t.plan(policy, o, files, now)
		}
	}
	return checked, nil
}

// take sorts the objects of a file.
func (c *checkedFiles) take(path string, documents []document.Document, files *local.Objects) error {
	found := false
	for _, d := range documents {
		switch {
		case document.IsLoadTest(d.Object):
			found = true
			c.tests = append(c.tests, &checkedTest{Document: d, files: c})
		case isSchedule(d.Object):
			found = true
			c.tests = append(c.tests, &checkedTest{Document: d, files: c, above: "spec.template."})
		case isOfAnotherVersion(d.Object):
			found = true
			c.problems = append(c.problems, problem{d, "apiVersion", fmt.Sprintf("%s is unknown here; it must be %s", d.Object.GetAPIVersion(), v1beta1.GroupVersion)})
		case local.Takes(d.Object):
			if err := files.Add(d.Object); err != nil {
				c.problems = append(c.problems, problem{d, "", err.Error()})
			}
		case mistaken(d.Object) != "":
			found = true
			c.problems = append(c.problems, problem{d, "", mistaken(d.Object)})
		}
	}
	if !found {
		return fmt.Errorf("-f %s: holds no LoadTest and no LoadTestSchedule", path)
	}
	return nil
}

// refuse notes a problem.
func (t *checkedTest) refuse(field, message string) {
	t.files.problems = append(t.files.problems, problem{t.Document, field, message})
	t.refused = true
}

// refuseField notes a problem of the LoadTest, in a field of its spec or as a whole.
func (t *checkedTest) refuseField(field, message string) {
	if strings.HasPrefix(field, "spec") {
		field = t.above + field
	}
	t.refuse(field, message)
}

// reviews are how the API server would take LoadTests and LoadTestSchedules; schedules is nil if
// there is none.
type reviews struct{ tests, schedules *admission.Admission }

func newReviews(tests []*checkedTest) (r reviews, err error) {
	if r.tests, err = admission.OfLoadTests(); err != nil {
		return r, err
	}
	if slices.ContainsFunc(tests, func(t *checkedTest) bool { return isSchedule(t.Object) }) {
		r.schedules, err = admission.OfSchedules()
	}
	return r, err
}

// of returns what an object would run, or what is wrong with it.
func (r reviews) of(ctx context.Context, object *unstructured.Unstructured, written admission.Written) (*v1beta1.LoadTest, []admission.Problem) {
	if !isSchedule(object) {
		return r.tests.Review(ctx, object, written)
	}
	s, problems := r.schedules.ReviewSchedule(ctx, object, written)
	if s == nil {
		return nil, problems
	}
	return decision.Run(s, s.Name, "", decision.Earlier{}), nil
}

// isSchedule says whether an object is a LoadTestSchedule.
func isSchedule(object *unstructured.Unstructured) bool {
	return object.GroupVersionKind() == scheduleKind
}

// isOfAnotherVersion says whether an object is of a kind of ours, in a version that there is not.
func isOfAnotherVersion(object *unstructured.Unstructured) bool {
	kind := object.GroupVersionKind().GroupKind()
	return kind == document.LoadTestKind.GroupKind() || kind == scheduleKind.GroupKind()
}

// mistaken says what an object is taken for that is of no kind of ours, but of nearly such a name; "": it is
// another object, which is no concern of ours.
func mistaken(object *unstructured.Unstructured) string {
	kind := object.GroupVersionKind()
	meant := text.MostAlike(kind.Kind, []string{document.LoadTestKind.Kind, scheduleKind.Kind})
	group := v1beta1.GroupVersion.Group
	if meant == "" || text.MostAlike(kind.Group, []string{group}) == "" {
		return ""
	}
	return fmt.Sprintf("there is no kind %s of %s; did you mean %s of %s?", kind.Kind, object.GetAPIVersion(), meant, v1beta1.GroupVersion)
}

// admit checks what the API server checks.
func (t *checkedTest) admit(ctx context.Context, review reviews) {
	if t.Object.GetName() == "" && t.Object.GetGenerateName() == "" {
		t.refuse("metadata.name", "must be set, or metadata.generateName")
		return
	}
	given := t.Object.DeepCopy()
	if given.GetName() == "" {
		given.SetName(given.GetGenerateName() + "xxxxx")
	}
	if given.GetNamespace() == "" {
		given.SetNamespace(localcommand.Namespace)
	}
	lt, problems := review.of(ctx, given, t.Written)
	for _, p := range problems {
		t.refuse(p.Field, p.Message)
	}
	if lt != nil {
		lt.Name, lt.Namespace = document.DisplayName(t.Object), t.Object.GetNamespace()
	}
	t.loadTest = lt
}

// plan checks what the operator checks when it takes a run up.
func (t *checkedTest) plan(policy *preview.Policy, o *checkOptions, files *local.Objects, now time.Time) {
	p, err := preview.New(t.loadTest, policy, o.release, now)
	var refusal preview.Refusal
	switch {
	case errors.As(err, &refusal):
		field, message, ok := strings.Cut(refusal.Message, ": ")
		if !ok || !strings.HasPrefix(field, "spec") {
			field, message = "spec", refusal.Message
		}
		t.refuseField(field, message)
		return
	case err != nil:
		t.refuse("", err.Error())
		return
	}
	t.preview = p
	for _, missing := range files.MissingKeys(t.loadTest) {
		t.refuseField("spec", missing)
	}
	for _, wrong := range templates.Check(&t.loadTest.Spec, func(key v1beta1.KeyReference) ([]byte, bool) {
		return files.ConfigMapKey(t.loadTest.Namespace, key)
	}) {
		t.refuseField(wrong.Field, wrong.Message)
	}
	for _, refused := range p.Refused {
		t.judgePolicy(refused, o.config != "")
	}
}

// judgePolicy is about something that the policy does not allow.
func (t *checkedTest) judgePolicy(refused string, known bool) {
	field, message, _ := strings.Cut(refused, ": ")
	if known {
		t.refuseField(field, message)
		return
	}
	t.files.warnings = append(t.files.warnings, problem{t.Document, t.above + field, message + " What is allowed is unknown here: give the operator's configuration by --config."})
}

// exit is the end of a command that has said what is wrong.
func (c *checkedFiles) exit() error {
	if len(c.problems) > 0 {
		return exitcode.Verdict{Code: exitcode.Failed}
	}
	return nil
}

// say writes the problems and the warnings.
func (c *checkedFiles) say(w io.Writer) {
	for _, p := range c.problems {
		_, _ = fmt.Fprintln(w, text.Lines(fmt.Sprint(p)))
	}
	for _, p := range c.warnings {
		_, _ = fmt.Fprintf(w, "warning: %s\n", text.Lines(fmt.Sprint(p)))
	}
}

// String names the file, the line, the object and the field.
func (p problem) String() string {
	where := p.Path
	if line := p.Line(p.field); line > 0 {
		where += fmt.Sprintf(":%d", line)
	}
	said := fmt.Sprintf("%s: %s %s: ", where, p.Object.GetKind(), document.DisplayName(p.Object))
	if p.field != "" {
		said += p.field + ": "
	}
	return said + p.message
}
