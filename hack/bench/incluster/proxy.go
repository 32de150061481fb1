package incluster

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	// maxAnswer bounds what is read of an answer of the API server: records of a test take 2 MB.
	maxAnswer = 64 << 20
	// answerTimeout bounds the wait for one.
	answerTimeout = 30 * time.Second
)

// proxy reads from the API server by one kubectl proxy: a process of kubectl for each read would take
// the processor from what is measured.
type proxy struct {
	url    string
	client http.Client
}

// startProxy starts it on a socket in a folder that is open to the user of this process alone. It ends
// with ctx.
func startProxy(ctx context.Context, folder string) (*proxy, error) {
	socket := filepath.Join(folder, "api.sock")
	c := exec.CommandContext(ctx, "kubectl", "proxy", "--unix-socket="+socket)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt at a terminal is not for it: what follows needs it
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, fmt.Errorf("kubectl proxy: %w", err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n') // nothing is read of one that ends
	go func() { _ = c.Wait() }()                     // it is killed with ctx
	if !strings.HasPrefix(line, "Starting to serve on ") {
		return nil, fmt.Errorf("kubectl proxy does not serve; it said %q", line)
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}
	return &proxy{url: "http://localhost", client: http.Client{Timeout: answerTimeout, Transport: &http.Transport{DialContext: dial}}}, nil
}

// text is what is at a path of the API server.
func (p *proxy) text(ctx context.Context, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+path, nil)
	if err != nil {
		return nil, err
	}
	response, err := p.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("read %s: %s: %s", path, response.Status, body[:min(len(body), 300)])
	}
	return body, nil
}

// get decodes what is at a path.
func (p *proxy) get(ctx context.Context, path string, into any) error {
	body, err := p.text(ctx, path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}
