package console

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestCommandsAreReadWithTheirOutput(t *testing.T) {
	got := Parse("$ kubectl apply \\\n    -f a.yaml\ncreated\n$ kubectl get loadtests\nNAME   AGE\n…\nb      3s\n")
	want := []Command{
		{"kubectl apply \\\n    -f a.yaml", []string{"created"}},
		{"kubectl get loadtests", []string{"NAME   AGE", "…", "b      3s"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMissingLinesOfOutputAreFound(t *testing.T) {
	const output = "02:00:01 begun\nVerdict    Failed\n  p95 is 4.695ms in step a; at most 250ms is allowed.\nSuccessful 98 (49%)\nDone\n"
	for name, tt := range map[string]struct {
		want    []string
		missing string
	}{
		"nothing is shown":         {nil, ""},
		"other figures and widths": {[]string{"Verdict  Failed", "p95 is 12us in step a; at most 250ms is allowed."}, ""},
		"a gap":                    {[]string{"Verdict Failed", "…", "Done"}, ""},
		"no gap":                   {[]string{"Verdict Failed", "Done"}, "Verdict Failed\nDone"},
		"another order":            {[]string{"Done", "…", "Verdict Failed"}, "Verdict Failed"},
		"another word":             {[]string{"Verdict Passed"}, "Verdict Passed"},
		"only the end of a line":   {[]string{"Failed"}, "Failed"},
	} {
		t.Run(name, func(t *testing.T) {
			same.As(t, "missing", tt.missing, (Command{Want: tt.want}).Missing(output))
		})
	}
}

func TestWhatDiffersIsMasked(t *testing.T) {
	got := masked([]string{"p95 29ms, +5%", "nightly-7e47b851cb  1/1  1m2s", "http1, by event loops", "v1beta1 and sha256"})
	want := []string{"p# #, #", "nightly# #/# #", "http#, by event loops", "v#beta# and sha#"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
