package command_test

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// offered are what the shell is offered for a command line.
func (p *testUser) offered(args ...string) []string {
	got := p.run(append([]string{"__complete"}, args...)...)
	return slices.DeleteFunc(strings.Fields(got.out), func(word string) bool { return strings.HasPrefix(word, ":") })
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	p := newTestUser(t)
	p.createNamed("one", running)
	p.createNamed("two", running)
	p.schedule("{}")
	for name, tt := range map[string]struct {
		args []string
		want []string
	}{
		"a name":            {[]string{"report", ""}, []string{"one", "two"}},
		"the rest of it":    {[]string{"watch", "t"}, []string{"two"}},
		"one name only":     {[]string{"rerun", "one", ""}, nil},
		"several names":     {[]string{"cancel", "one", ""}, []string{"two"}},
		"names to compare":  {[]string{"compare", "two", ""}, []string{"one"}},
		"another namespace": {[]string{"report", "-n", "default", "o"}, nil},
		"a namespace":       {[]string{"report", "-n", p.namespace[:len(p.namespace)-1]}, []string{p.namespace}},
		"a schedule":        {[]string{"run", "--from", "sch"}, []string{"schedule/nightly"}},
		"a context":         {[]string{"list", "--context", ""}, []string{"test"}},
		"a form":            {[]string{"list", "-o", "w"}, []string{"wide"}},
		"an order":          {[]string{"list", "--sort", "a"}, []string{"attention", "age"}},
		"a system":          {[]string{"try", "--serve", "s"}, []string{"shortener"}},
	} {
		t.Run(name, func(t *testing.T) {
			// The shell leaves out what does not begin alike; names are offered whole.
			begun := tt.args[len(tt.args)-1]
			offered := func() []string {
				return slices.DeleteFunc(p.offered(tt.args...), func(word string) bool { return !strings.HasPrefix(word, begun) })
			}
			got := offered()
			// Nobody waits for long at a prompt: nothing is offered when a busy API server is late.
			for late := time.Now().Add(time.Minute); len(got) < len(tt.want) && time.Now().Before(late); {
				got = offered()
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("offered %q, want %q", got, tt.want)
			}
		})
	}
	p.kubeconfig = "/does/not/exist"
	if got := p.run("__complete", "report", ""); got.code != 0 || strings.Contains(got.err, "error:") {
		t.Errorf("without a cluster: exit code %d: %s", got.code, got.err)
	}
}
