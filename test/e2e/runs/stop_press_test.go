//go:build e2e

package runs

import (
	"bufio"
	"bytes"
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// pressed is a command that has set the switch, and waits for the end of the runs.
type pressed struct {
	// at is when the switch was set, by which user.
	at time.Time
	by string

	command  *exec.Cmd
	lines    *bufio.Scanner
	problems bytes.Buffer
}

// press sets the switch for a namespace by the plugin. It is taken back when the test ends.
func press(t *testing.T, namespace string) *pressed {
	t.Helper()
	t.Cleanup(func() {
		if _, err := cluster.Command(context.Background(), "kubectl", "loadtest", "resume", "--all", "-n", namespace); err != nil {
			t.Errorf("take back the switch: %v", err)
		}
	})
	p := &pressed{command: exec.CommandContext(t.Context(), "kubectl-loadtest",
		"stop", "-n", namespace, "--all", "--reason", incident, "--yes", "--timeout", cluster.Patience.String())}
	out, err := p.command.StdoutPipe()
	must.Succeed(t, err)
	p.command.Stderr, p.lines = &p.problems, bufio.NewScanner(out)
	must.Succeed(t, p.command.Start())
	p.lines.Scan()
	p.at = time.Now()
	by, ok := strings.CutPrefix(p.lines.Text(), "Runs of namespace "+namespace+" are stopped by ")
	if p.by = strings.TrimSuffix(by, "."); !ok || p.by == "" {
		t.Fatalf("the plugin says %q (%v), want by whom runs are stopped\n%s", p.lines.Text(), p.command.Wait(), p.problems.String())
	}
	return p
}

// mustEnd waits for the command, which tells of the end of each run.
func (p *pressed) mustEnd(t *testing.T, runs []*v1beta1.LoadTest) {
	t.Helper()
	var text strings.Builder
	for p.lines.Scan() {
		text.WriteString(p.lines.Text() + "\n")
	}
	if err := p.command.Wait(); err != nil || !strings.HasSuffix(text.String(), "No run goes on.\n") {
		t.Errorf("kubectl loadtest stop: %v\n%s%s", err, text.String(), p.problems.String())
	}
	for _, lt := range runs {
		if !strings.Contains(text.String(), "LoadTest "+lt.Namespace+"/"+lt.Name+" ended after ") {
			t.Errorf("kubectl loadtest stop does not tell of the end of %s:\n%s", lt.Name, text.String())
		}
	}
}
