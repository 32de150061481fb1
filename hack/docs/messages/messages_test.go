package main

import (
	"go/parser"
	"go/token"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestSentencesHaveNamesForValuesAndTheReasonOfTheirStatement(t *testing.T) {
	const source = `package x

func f() error {
	set(v1beta1.ReasonKept, "All is kept.")
	r.event("Probed", fmt.Sprintf("Step %s: %d of %d%%.", step.Name, *n, Count(all)))
	list = append(list, Event{true, "Missed", "One was missed."})
	if x {
		return invalid("%s: must be set, or "+field+" must not.", p.Field)
	}
	_ = map[string]string{v1beta1.ReasonKept: "It is kept.", ReasonLost: "It is lost."}
	_ = fmt.Sprintf("%[2]s of %[1]s has no %q", a, b.String())
	_ = regexp.MustCompile("no sentence at all")
	_ = "name"
	return fmt.Errorf("get the Job: %w", err)
}
`
	file, err := parser.ParseFile(token.NewFileSet(), "x.go", source, parser.SkipObjectResolution)
	must.Succeed(t, err)
	want := []message{
		{reason: "Kept", text: "All is kept."},
		{reason: "Probed", text: "Step <name>: <n> of <all>%."},
		{reason: "Missed", text: "One was missed."},
		{reason: "InvalidSpec", text: "<field>: must be set, or <field> must not."},
		{reason: "Kept", text: "It is kept."},
		{reason: "Lost", text: "It is lost."},
		{text: "<b> of <a> has no <b>"},
	}
	got := sentences(file, map[string]string{"invalid": "InvalidSpec", "ReasonKept": "Kept", "ReasonLost": "Lost"})
	same.As(t, "sentences", want, got, cmp.AllowUnexported(message{}))
}
