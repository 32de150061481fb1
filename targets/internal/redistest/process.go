package redistest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// process is one run of redis-server.
type process struct {
	cmd     *exec.Cmd
	drained chan struct{} // its output has ended
}

// run returns when the server accepts connections.
func run(binary string, args []string) (*process, error) {
	cmd := exec.Command(binary, args...)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("pipe its output: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, drained: make(chan struct{})}
	ready := make(chan error, 1)
	go func() {
		defer close(p.drained)
		ready <- awaitReady(stdout)
		_, _ = io.Copy(io.Discard, stdout)
	}()
	if err := <-ready; err != nil {
		p.kill()
		return nil, err
	}
	return p, nil
}

// kill returns when the server is gone.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.drained
	_ = p.cmd.Wait() // reports the kill
}

// awaitReady reads the server's log until it says that it accepts connections:
// "Ready to accept connections" by Redis 7.2 and later, "The server is now
// ready to accept connections at <socket>" by those before.
func awaitReady(log io.Reader) error {
	var seen []string
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		if strings.Contains(strings.ToLower(lines.Text()), "ready to accept connections") {
			return nil
		}
		seen = append(seen, lines.Text())
	}
	return errors.Join(lines.Err(),
		fmt.Errorf("it ended before it was ready:\n%s", strings.Join(seen, "\n")))
}
