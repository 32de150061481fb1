package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"syscall"

	"github.com/loadtest-dev/loadtest-operator/loadworker/assemble"
	"github.com/loadtest-dev/loadtest-operator/loadworker/attack"
	"github.com/loadtest-dev/loadtest-operator/loadworker/health"
	"github.com/loadtest-dev/loadtest-operator/loadworker/session"
)

// version is set by the linker.
var version = ""

const help = `loadworker sends one worker's share of a load test and measures it.

The operator starts it in a Job; there is nothing to configure by hand. It opens
one session to the operator's coordinator, receives its share there, says when
it is ready, runs each step at the instant it is given, and sends what it
measured every second. It ends when the coordinator says that the run is over.
While the coordinator cannot be reached it measures on, and holds its results for
as long as the rest of the plan may take and ten minutes longer.

Environment (each has a flag of the same meaning, which wins):
  LOADTEST_COORDINATOR     host:port of the coordinator
  LOADTEST_COORDINATOR_CA  certificate that signed the coordinator's, PEM text
  LOADTEST_TOKEN_FILE      file with the service-account token to show it
  LOADTEST_RUN             UID of the LoadTest
  JOB_COMPLETION_INDEX     number of this worker, from 0

Exit code: 0 when the run is finished; 1 when the worker ended before that, for
example by SIGTERM (it then sends what it measured so far); 2 when a setting is
missing.

Logs are JSON lines on standard error. When a step has ended, one holds a copy of
its result: due, sent, and the response times of all requests as histogram
(HdrHistogram V2, compressed, base64). The error that the worker ends with is
written to --termination-log too, where the operator reads it.

Flags:
`

func main() {
	log.SetOutput(io.Discard) // net/http has a line for each odd frame that a target sends
	attack.SpareProcessor()
	attack.CollectSeldom(os.Getenv)
	os.Exit(run(os.Args[1:], os.Getenv, os.Stderr))
}

func run(args []string, getenv func(string) string, stderr io.Writer) int {
	config, terminationLog, err := configure(args, getenv, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(stderr, "loadworker:", err)
		terminationLog.write(err)
		return 2
	}
	assemble.LimitMemory(getenv, config.Assembly.Limits)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	config.Log = slog.New(slog.NewJSONHandler(stderr, nil)).With("run", config.Run, "worker", config.Worker)
	config.Log.Info("loadworker begins", "version", config.Assembly.Version, "coordinator", config.Coordinator)
	if err := session.Run(ctx, config); err != nil {
		config.Log.Error("loadworker ends", "error", err.Error())
		terminationLog.write(err)
		return 1
	}
	return 0
}

// configure reads the flags and, for those that are absent, the environment.
func configure(args []string, getenv func(string) string, stderr io.Writer) (c session.Config, log terminationLog, err error) {
	flags := flag.NewFlagSet("loadworker", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(stderr, help)
		flags.PrintDefaults()
	}
	coordinator := flags.String("coordinator", getenv("LOADTEST_COORDINATOR"), "`host:port` of the coordinator")
	caFile := flags.String("coordinator-ca-file", "", "`file` with the certificate that signed the coordinator's (default the text in LOADTEST_COORDINATOR_CA)")
	tokenFile := flags.String("token-file", getenv("LOADTEST_TOKEN_FILE"), "`file` with the token; read again at each connection")
	runID := flags.String("run", getenv("LOADTEST_RUN"), "`UID` of the LoadTest")
	worker := flags.String("worker", getenv("JOB_COMPLETION_INDEX"), "`number` of this worker, from 0")
	flags.StringVar((*string)(&log), "termination-log", "/dev/termination-log", "`file` for the error that the worker ends with, if it is there")
	if err := flags.Parse(args); err != nil {
		return c, log, err
	}
	if flags.NArg() > 0 {
		return c, log, fmt.Errorf("unexpected argument %q; see --help", flags.Arg(0))
	}
	c = session.Config{
		Coordinator: *coordinator, TokenFile: *tokenFile, Run: *runID,
		Assembly: assemble.Config{Version: buildVersion(), Limits: health.SystemLimits()},
	}
	if c.CA, err = readCA(*caFile, getenv); err != nil {
		return c, log, err
	}
	return c, log, errors.Join(
		require(c.Coordinator, "LOADTEST_COORDINATOR", "--coordinator"),
		require(c.TokenFile, "LOADTEST_TOKEN_FILE", "--token-file"),
		require(c.Run, "LOADTEST_RUN", "--run"),
		parseWorker(&c.Worker, *worker),
	)
}

func readCA(file string, getenv func(string) string) ([]byte, error) {
	if file == "" {
		ca := getenv("LOADTEST_COORDINATOR_CA")
		return []byte(ca), require(ca, "LOADTEST_COORDINATOR_CA", "--coordinator-ca-file")
	}
	return os.ReadFile(file)
}

func require(value, env, name string) error {
	if value == "" {
		return fmt.Errorf("set %s or %s", env, name)
	}
	return nil
}

func parseWorker(to *int32, text string) error {
	if err := require(text, "JOB_COMPLETION_INDEX", "--worker"); err != nil {
		return err
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 0 {
		return fmt.Errorf("JOB_COMPLETION_INDEX or --worker: %q is not a whole number from 0 on", text)
	}
	*to = int32(n)
	return nil
}

// buildVersion is the version that the linker set, or else that of the build.
func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}
