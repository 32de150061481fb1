package check

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/settings"
)

// pause is the time between two questions whether the target is ready.
const pause = 250 * time.Millisecond

const usage = `%[1]s check calls a running %[1]s as a client would: it waits until
/ready says yes, prints /version, and %[2]s.
It prints each answer, and ends with status 1 at the first that is wrong.

Try it:

  %[1]s check --url http://localhost:8080

Each flag can be given as the environment variable beside it; the flag wins.

`

// config is what the command line and the environment say.
type config struct {
	base    string
	timeout time.Duration
}

// trip is the check of a ready target; about is the body of its /version.
type trip func(ctx context.Context, c caller, about []byte) error

// run is the subcommand of one target; does completes the sentence of its help.
func run(ctx context.Context, name, does string, t trip, args []string, getenv func(string) string, out io.Writer) error {
	conf, err := parseConfig(name, does, args, getenv, out)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, conf.timeout)
	defer cancel()
	c := caller{base: conf.base, key: getenv("API_KEY"), out: out, client: &http.Client{
		// A redirect is what a shortener answers, not a way to go.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	defer c.client.CloseIdleConnections()
	if err := c.ready(ctx); err != nil {
		return fmt.Errorf("check %s: %w", conf.base, err)
	}
	about, err := c.call(ctx, call{path: "/version"})
	if err == nil {
		fmt.Fprintf(out, "%s\n", bytes.TrimSpace(about.body))
		err = t(ctx, c, about.body)
	}
	if err != nil {
		return fmt.Errorf("check %s: %w", conf.base, err)
	}
	fmt.Fprintf(out, "check %s: the %s works\n", conf.base, name)
	return nil
}

func parseConfig(name, does string, args []string, getenv func(string) string, out io.Writer) (config, error) {
	var c config
	set := settings.New(name+" check", fmt.Sprintf(usage, name, does), getenv)
	set.Parsed("url", "CHECK_URL", "http://localhost:8080", "`URL` of the service, without a path", func(v string) error {
		u, err := url.Parse(v)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return fmt.Errorf("%q is no URL: use the form http://host:port", v)
		}
		c.base = strings.TrimRight(v, "/")
		return nil
	})
	set.Duration(&c.timeout, "timeout", "CHECK_TIMEOUT", "1m", "`time` that all of it may take, with the wait until the service is ready")
	if err := set.Parse(args, out); err != nil {
		return config{}, err
	}
	if c.timeout <= 0 {
		return config{}, fmt.Errorf("--timeout (CHECK_TIMEOUT) is %v: use a time above 0s", c.timeout)
	}
	return c, nil
}

// ready asks until the answer is yes.
func (c caller) ready(ctx context.Context) error {
	var last error
	for {
		_, err := c.call(ctx, call{path: "/ready"})
		if err == nil {
			return nil
		}
		// The earlier error says more than the timeout.
		if last == nil || ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not ready in time: %w", last)
		case <-time.After(pause):
		}
	}
}
