package servetest

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// Service is a command that serves until the test ends.
type Service struct {
	URL string
	// GRPC is the address of gRPC, if there is one.
	GRPC string
	// Stop ends the service before, and returns what is wrong with its end. A second call returns
	// the same.
	Stop func() error
}

// Run runs a command in this process. Its context ends as a signal would end it.
func Run(t *testing.T, command func(ctx context.Context, log io.Writer) error) Service {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	logs, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- command(ctx, out)
		out.Close()
	}()
	return serving(t, logs, func() error {
		cancel()
		return <-ended
	})
}

// asProgram makes the binary of a test be the program itself.
const asProgram = "SERVETEST_IS_PROGRAM"

// IsProgram says that this process is to be the program, and no test.
func IsProgram() bool { return os.Getenv(asProgram) != "" }

// Command is the program, as TestMain makes it of this binary.
func Command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	return cmd
}

// Start runs the program in a process of its own, which Stop ends as a crash does.
func Start(t *testing.T, args ...string) Service {
	t.Helper()
	cmd := Command(t, args...)
	logs, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return serving(t, logs, func() error {
		err := cmd.Process.Kill()
		_ = cmd.Wait() // reports the kill
		return err
	})
}

// serving is the service that the log tells of. The rest of the log is read and forgotten.
func serving(t *testing.T, logs io.Reader, end func() error) Service {
	t.Helper()
	s := Service{Stop: sync.OnceValue(end)}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Errorf("the service ended with %v", err)
		}
	})
	var seen strings.Builder
	for lines := bufio.NewReader(logs); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("no address in the log: %v\n%s", err, seen.String())
		}
		seen.WriteString(line)
		var started struct{ Msg, Addr, Grpc string }
		if json.Unmarshal([]byte(line), &started) != nil || started.Msg != "serving" {
			continue
		}
		go func() { _, _ = io.Copy(io.Discard, lines) }()
		_, port, err := net.SplitHostPort(started.Addr)
		if err != nil {
			t.Fatal(err)
		}
		s.URL, s.GRPC = "http://127.0.0.1:"+port, started.Grpc
		return s
	}
}
