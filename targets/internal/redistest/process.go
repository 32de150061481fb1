package redistest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
)

// process is one run of redis-server.
type process struct {
	cmd     *exec.Cmd
	drained chan struct{} // its output has ended
}

// run returns when the server accepts connections. The server ends when it is
// killed, or with this process at the latest, however that ends.
func run(binary string, args []string) (*process, error) {
	cmd := exec.Command(binary, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("pipe its output: %w", err)
	}
	p := &process{cmd: cmd, drained: make(chan struct{})}
	ready := make(chan error, 1)
	go func() {
		defer close(p.drained)
		// "This process" is to the kernel the thread that started the child. It
		// is locked, so that the runtime does not end it, and ends with us.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := cmd.Start(); err != nil {
			ready <- err
			return
		}
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
	if p.cmd.Process != nil { // it was started
		_ = p.cmd.Process.Kill()
	}
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
