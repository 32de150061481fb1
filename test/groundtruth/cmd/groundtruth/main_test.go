package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	for name, args := range map[string][]string{
		"plain": {"-record", "5", "-d", "1ms", "-route", "a=status:503:1", "-event", "stall:1h:1s"},
		"tls":   {"-tls", "-d", "1ms"},
	} {
		t.Run(name, func(t *testing.T) {
			stdin, end := io.Pipe()
			out, stdout := io.Pipe()
			ended := make(chan error, 1)
			go func() { ended <- run(args, stdin, stdout) }()
			line, err := bufio.NewReader(out).ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			var got Started
			if err := json.Unmarshal([]byte(line), &got); err != nil {
				t.Fatal(err)
			}
			if (got.Certificate != "") != strings.HasPrefix(got.URL, "https://") {
				t.Errorf("it started at %s with the certificate %q", got.URL, got.Certificate)
			}
			resp, err := http.Get(got.Control + "/counters")
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				t.Errorf("the counters are answered %s", resp.Status)
			}
			_ = end.Close()
			if err := <-ended; err != nil {
				t.Errorf("run = %v", err)
			}
		})
	}
}

func TestRunRefuses(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"no such flag": {[]string{"-x"}, "not defined"},
		"a bad route":  {[]string{"-route", "x"}, "must be name=reply"},
		"a bad event":  {[]string{"-event", "x"}, "must be stall, reset or refuse"},
		"no address":   {[]string{"-address", "x"}, "must be an IPv4 address and a port"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := run(tt.args, strings.NewReader(""), io.Discard)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("run = %v, want an error that contains %q", err, tt.want)
			}
		})
	}
}
