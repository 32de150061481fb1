package local

import (
	"bytes"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator/exchange"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// processes are the workers of a run, in place of a Job and its pods.
type processes struct {
	command []string
	changed func()

	mu      sync.Mutex
	started []*process
	ending  bool
	ended   sync.WaitGroup
}

// process is one worker.
type process struct {
	*exec.Cmd
	// stdin is held open for as long as the worker is to live.
	stdin  io.Closer
	token  string
	person coordinator.Identity
	// said has the end of what it wrote to its standard error.
	said tail
	// over says that it has ended, and why is how.
	over bool
	why  string
}

var _ coordinator.Authenticator = (*processes)(nil)

func newProcesses(command []string, changed func()) *processes {
	return &processes{command: command, changed: changed}
}

// start starts a worker.
func (p *processes) start(i invitation, folder string) error {
	i.TokenFile = filepath.Join(folder, fmt.Sprintf("token-%d", i.Worker))
	if err := os.WriteFile(i.TokenFile, []byte(i.Token), 0o600); err != nil {
		return fmt.Errorf("write token: %w", err)
	}
	words, err := json.Marshal(i)
	if err != nil {
		return err
	}
	w := &process{Cmd: exec.Command(p.command[0], p.command[1:]...), token: i.Token}
	w.Stderr = &w.said
	apart(w.Cmd)
	stdin, err := w.StdinPipe()
	if err != nil {
		return fmt.Errorf("start worker %d: %w", i.Worker, err)
	}
	w.stdin = stdin
	if err := w.Start(); err != nil {
		return fmt.Errorf("start worker %d: %w", i.Worker, err)
	}
	host, _ := os.Hostname() // it is for the report alone
	w.person = coordinator.Identity{
		Run: coordinator.RunID(i.Run), Worker: i.Worker, Node: host, Namespace: "local",
		Pod: fmt.Sprintf("worker-%d", i.Worker), PodUID: fmt.Sprint(w.Process.Pid), Created: time.Now(),
	}
	p.mu.Lock()
	p.started = append(p.started, w)
	p.mu.Unlock()
	p.ended.Go(func() { p.wait(w) })
	// A worker that has ended by now does not read it, and is seen to have ended.
	_, _ = stdin.Write(append(words, '\n'))
	return nil
}

// wait notes the end of a worker.
func (p *processes) wait(w *process) {
	err := w.Wait()
	why := "it ended before the run did"
	if err != nil {
		why = err.Error()
	}
	if said := w.said.last(); said != "" {
		why += ": " + said
	}
	p.mu.Lock()
	w.over, w.why = true, why
	p.mu.Unlock()
	p.changed()
}

// observe adds to the workers what is known of their processes.
func (p *processes) observe(workers []exchange.Worker) lifecycle.JobState {
	p.mu.Lock()
	defer p.mu.Unlock()
	state := lifecycle.JobFinished
	for _, w := range p.started {
		if int(w.person.Worker) >= len(workers) {
			continue
		}
		seen := &workers[w.person.Worker]
		seen.Pod = exchange.PodRunning
		if w.over {
			seen.Pod, seen.PodReason, seen.PodMessage = exchange.PodEnded, v1beta1.ReasonWorkerLost, w.why
		} else {
			state = lifecycle.JobPresent
		}
	}
	if len(p.started) == 0 || p.ending {
		return lifecycle.JobAbsent
	}
	return state
}

// Authenticate finds the worker that has a token.
func (p *processes) Authenticate(_ context.Context, token string) (coordinator.Identity, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.started {
		if !w.over && subtle.ConstantTimeCompare([]byte(w.token), []byte(token)) == 1 {
			return w.person, nil
		}
	}
	return coordinator.Identity{}, errors.Join(coordinator.ErrUnauthenticated, errors.New("no worker of this run has the token"))
}

// Check says nothing against a worker: no other process has its token.
func (p *processes) Check(context.Context, coordinator.Identity) error { return nil }

// quote says what each worker said last.
func (p *processes) quote(say func(string)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.started {
		if said := w.said.last(); said != "" {
			say(fmt.Sprintf("last line of worker %d: %s", w.person.Worker, said))
		}
	}
}

// end ends the workers.
func (p *processes) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ending = true
	for _, w := range p.started {
		_ = w.stdin.Close()
	}
}

// close ends the workers once they had time to end by themselves, and waits for them.
func (p *processes) close(patience time.Duration) {
	gone := make(chan struct{})
	go func() {
		p.ended.Wait()
		close(gone)
	}()
	select {
	case <-gone:
	case <-time.After(patience):
	}
	p.end()
	select {
	case <-gone:
		return
	case <-time.After(partingTime):
	}
	p.mu.Lock()
	for _, w := range p.started {
		_ = w.Process.Kill()
	}
	p.mu.Unlock()
	<-gone
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

// maxTail is what is kept: a panic's first lines are of less use than its last word.
const maxTail = 4 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b...)
	t.kept = t.kept[max(0, len(t.kept)-maxTail):]
	return len(b), nil
}

// last is the last line.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := string(bytes.TrimSpace(t.kept))
	return text.Clean(s[strings.LastIndexByte(s, '\n')+1:], 512)
}
