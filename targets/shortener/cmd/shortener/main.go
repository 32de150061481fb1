package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/internal/check"
	serving "github.com/loadtest-dev/loadtest-operator/targets/internal/serve"
)

// version is set by the linker (-X main.version=...).
var version = "dev"

const usage = `shortener shortens URLs.

  shortener serve    answer POST /urls and GET /{code}
  shortener clicks   move clicks from a queue to the database
  shortener seed     fill the database with links that a load test can name
  shortener check    ask a service that runs whether it does what it should

Each has --help. Try it, with a Postgres that has a user and a database of that
name:

  export POSTGRES_PASSWORD=...
  shortener serve &
  curl -d '{"url":"https://example.com/a/long/one"}' http://localhost:8080/urls
`

// invocation is what a command is called with.
type invocation struct {
	args   []string
	getenv func(string) string
	now    func() time.Time
	out    io.Writer
}

// commands are run until they are done, or ctx ends.
var commands = map[string]func(context.Context, invocation) error{
	"serve": serve, "clicks": clicks, "seed": seed,
	"check": func(ctx context.Context, w invocation) error { return check.Shortener(ctx, w.args, w.getenv, w.out) },
}

func main() {
	serving.TuneMemory(os.Getenv, 0)
	serving.Main("shortener", func(ctx context.Context) error {
		return run(ctx, invocation{args: os.Args[1:], getenv: os.Getenv, now: time.Now, out: os.Stderr})
	})
}

func run(ctx context.Context, w invocation) error {
	if len(w.args) == 0 {
		return errors.New("no command: use serve, clicks, seed or check")
	}
	name := w.args[0]
	switch name {
	case "help", "-h", "-help", "--help":
		fmt.Fprint(w.out, usage)
		return flag.ErrHelp
	}
	command, ok := commands[name]
	if !ok {
		return fmt.Errorf("unknown command %q: use serve, clicks, seed or check", name)
	}
	w.args = w.args[1:]
	return command(ctx, w)
}
