package main

import (
	"io"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore/sqlite"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/servetest"
	"github.com/loadtest-dev/loadtest-operator/targets/internal/settingstest"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func defaults() config {
	return config{
		port: 8080, dataDir: "/data",
		sqlite:         sqlite.Options{Synchronous: sqlite.Full, GroupCommit: true, Readers: 4, KeyWindow: 1_000_000},
		openLogs:       6,
		limitPerSecond: 100, limitBurst: 200, gzip: true,
	}
}

func TestFlagsWinOverTheEnvironment(t *testing.T) {
	tests := map[string]struct {
		args   []string
		env    map[string]string
		change func(*config)
	}{
		"nothing given": {change: func(*config) {}},
		"by environment": {
			env: map[string]string{
				"PORT": "80", "GRPC_ADDRESS": ":9090", "DATA_DIR": "/events", "TENANTS_FILE": "/etc/tenants.yaml", "SYNCHRONOUS": "normal", "GROUP_COMMIT": "off",
				"READERS": "2", "OPEN_LOGS": "3", "MEMORY_LIMIT": "1Gi", "IDEMPOTENCY_WINDOW": "5", "RATE_LIMIT": "on", "RATE_LIMIT_PER_SECOND": "0.5", "RATE_LIMIT_BURST": "3",
				"ENABLE_GZIP": "off", "TRUSTED_PROXIES": "10.1.2.3/8", "DELAY": "250ms", "SHUTDOWN_DELAY": "3s",
			},
			change: func(c *config) {
				*c = config{
					port: 80, grpcAddress: ":9090", dataDir: "/events", tenantsFile: "/etc/tenants.yaml",
					sqlite:   sqlite.Options{Synchronous: sqlite.Normal, Readers: 2, KeyWindow: 5},
					openLogs: 3, memoryLimit: "1Gi",
					limited: true, limitPerSecond: 0.5, limitBurst: 3,
					trustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
					delay:          250 * time.Millisecond,
					shutdownDelay:  3 * time.Second,
				}
			},
		},
		"the key, by environment only": {env: map[string]string{"API_KEY": "s3cr3t"}, change: func(c *config) { c.apiKey = "s3cr3t" }},
		"the flag wins": {
			args:   []string{"--readers=7", "--data-dir", "d"},
			env:    map[string]string{"READERS": "many", "DATA_DIR": "e"},
			change: func(c *config) { c.sqlite.Readers, c.dataDir = 7, "d" },
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			want := defaults()
			tc.change(&want)
			got, err := parseConfig(tc.args, servetest.Environment(tc.env), io.Discard)
			must.Succeed(t, err)
			opts := cmp.Options{cmp.AllowUnexported(config{}), cmpopts.EquateComparable(netip.Prefix{})}
			same.As(t, "config", want, got, opts)
		})
	}
}

// parse is parseConfig without the configuration.
func parse(args []string, getenv func(string) string, out io.Writer) error {
	_, err := parseConfig(args, getenv, out)
	return err
}

func TestParseConfigRefuses(t *testing.T) {
	settingstest.Refuses(t, parse, map[string]settingstest.Mistake{
		"the key by flag":     {Args: []string{"--api-key=k"}, Want: "flag provided but not defined: -api-key"},
		"an unknown mode":     {Args: []string{"--synchronous=off"}, Want: `invalid value "off" for flag -synchronous: unknown mode "off": use full or normal`},
		"no readers":          {Args: []string{"--readers=0"}, Want: "--readers (READERS) is 0: use 1 to 64"},
		"no logs":             {Args: []string{"--open-logs=0"}, Want: "--open-logs (OPEN_LOGS) is 0: use 1 to 1000"},
		"more than tenants":   {Args: []string{"--open-logs=1001"}, Want: "--open-logs (OPEN_LOGS) is 1001: use 1 to 1000"},
		"no window":           {Args: []string{"--idempotency-window=0"}, Want: "--idempotency-window (IDEMPOTENCY_WINDOW) is 0: use 1 or more"},
		"no such port":        {Env: map[string]string{"PORT": "65536"}, Want: "--port (PORT) is 65536: use 0 to 65535"},
		"time that is past":   {Args: []string{"--shutdown-delay=-3s"}, Want: "--shutdown-delay (SHUTDOWN_DELAY) is -3s: use 0s or more"},
		"a wait that is past": {Args: []string{"--delay=-1ms"}, Want: "--delay (DELAY) is -1ms: use 0s to 10s"},
		"a wait that is long": {Args: []string{"--delay=11s"}, Want: "--delay (DELAY) is 11s: use 0s to 10s"},
		"a key and a file":    {Args: []string{"--tenants-file=t.yaml"}, Env: map[string]string{"API_KEY": "k"}, Want: "API_KEY and --tenants-file (TENANTS_FILE) are both given: use API_KEY for one log, or the file for several"},
	})
}

// The help names every setting in both its forms.
func TestHelpNamesEverySetting(t *testing.T) {
	settingstest.Helps(t, parse,
		"-port", "PORT", "-grpc-address", "GRPC_ADDRESS", "-data-dir", "DATA_DIR", "-tenants-file", "TENANTS_FILE", "API_KEY", "-synchronous", "SYNCHRONOUS",
		"-group-commit", "GROUP_COMMIT", "-readers", "READERS", "-open-logs", "OPEN_LOGS", "-memory-limit", "MEMORY_LIMIT", "-idempotency-window", "IDEMPOTENCY_WINDOW", "-rate-limit", "RATE_LIMIT",
		"-rate-limit-per-second", "RATE_LIMIT_PER_SECOND", "-rate-limit-burst", "RATE_LIMIT_BURST", "-enable-gzip", "ENABLE_GZIP",
		"-trusted-proxies", "TRUSTED_PROXIES", "-delay", "DELAY", "-shutdown-delay", "SHUTDOWN_DELAY", "Idempotency-Key",
	)
}
