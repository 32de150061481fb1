package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

// Each request comes once, and none before its instant, over fewer connections than there are requests at once.
func TestRequestsComeOnceAndNotEarly(t *testing.T) {
	const n, each, speed = 100, 10_000, 2
	s, err := groundtruth.Start(groundtruth.Config{Record: n + 1, Stamp: true})
	must.Succeed(t, err)
	t.Cleanup(s.Close)
	var content []byte
	for i := range uint64(n) {
		content = binary.LittleEndian.AppendUint64(content, i*each)
	}
	file := filepath.Join(t.TempDir(), "times")
	must.Succeed(t, os.WriteFile(file, content, 0o600))
	stdin, input := io.Pipe()
	output, stdout := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- run(stdin, stdout) }()
	_, err = fmt.Fprintf(input, `{"address": %q, "connections": 3, "times": %q, "speed": %d}`+"\n", s.Address(), file, speed)
	must.Succeed(t, err)
	answers := bufio.NewReader(output)
	hear := func(want string) {
		t.Helper()
		if got, err := answers.ReadString('\n'); err != nil || strings.TrimSpace(got) != want {
			t.Fatalf("%q, %v; want %s", got, err, want)
		}
	}
	hear(`{"ready":true}`)
	start := groundtruth.Now()
	_, err = fmt.Fprintln(input, start)
	must.Succeed(t, err)
	hear(fmt.Sprintf(`{"sent":%d}`, n))
	must.Succeed(t, <-ended)
	seen := map[int64]bool{}
	for _, r := range s.Records() {
		if due := start + r.Number*each/speed; r.Received < due || seen[r.Number] {
			t.Errorf("request %d came %d ns after it was due; for the second time: %t", r.Number, r.Received-due, seen[r.Number])
		}
		seen[r.Number] = true
	}
	if len(seen) != n || s.Counters().Connections != 3 {
		t.Errorf("%d requests over %d connections", len(seen), s.Counters().Connections)
	}
}

func TestTasksThatAreRefused(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "times")
	must.Succeed(t, os.WriteFile(empty, nil, 0o600))
	for want, input := range map[string]string{
		"the first line: ":         "",
		"no such file":             `{"times": "/none", "speed": 1}`,
		"speed 0 must be positive": fmt.Sprintf(`{"times": %q}`, empty),
		`address "x" must be`:      fmt.Sprintf(`{"times": %q, "speed": 1, "address": "x", "connections": 1}`, empty),
	} {
		must.Say(t, run(strings.NewReader(input+"\n"), io.Discard), want)
	}
}
