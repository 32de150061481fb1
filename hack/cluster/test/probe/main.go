package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "probe:", err)
		os.Exit(1)
	}
}

// verb is a command of the program with its number of arguments.
type verb struct {
	args int
	do   func(ctx context.Context, args []string, out io.Writer) error
}

var verbs = map[string]verb{
	"name":    {0, func(_ context.Context, _ []string, out io.Writer) error { return hostName(out) }},
	"serve":   {1, func(ctx context.Context, args []string, _ io.Writer) error { return serve(ctx, args[0]) }},
	"get":     {1, func(ctx context.Context, args []string, out io.Writer) error { return get(ctx, args[0], out) }},
	"dial":    {1, func(_ context.Context, args []string, out io.Writer) error { return dial(args[0], out) }},
	"hold":    {1, func(_ context.Context, args []string, out io.Writer) error { return hold(args[0], out) }},
	"resolve": {1, func(ctx context.Context, args []string, out io.Writer) error { return resolve(ctx, args[0], out) }},
	"print":   {1, func(_ context.Context, args []string, out io.Writer) error { return printFile(args[0], out) }},
	"write": {2, func(_ context.Context, args []string, _ io.Writer) error {
		return os.WriteFile(args[0], []byte(args[1]), 0o600)
	}},
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) > 0 {
		if v, ok := verbs[args[0]]; ok && len(args) == v.args+1 {
			return v.do(ctx, args[1:], out)
		}
	}
	return fmt.Errorf("unknown arguments %q", args)
}

func hostName(out io.Writer) error {
	name, err := os.Hostname()
	if err == nil {
		fmt.Fprintln(out, name)
	}
	return err
}

func serve(ctx context.Context, address string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler()}
	stop := context.AfterFunc(ctx, func() { listener.Close() })
	defer stop()
	if err := server.Serve(listener); ctx.Err() == nil {
		return err
	}
	return nil
}

func handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if err := hostName(w); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
}

func get(ctx context.Context, url string, out io.Writer) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s", url, response.Status)
	}
	_, err = io.Copy(out, response.Body)
	return err
}

func resolve(ctx context.Context, name string, out io.Writer) error {
	addresses, err := net.DefaultResolver.LookupHost(ctx, name)
	if err == nil {
		fmt.Fprintln(out, strings.Join(addresses, " "))
	}
	return err
}

func printFile(path string, out io.Writer) error {
	content, err := os.ReadFile(path)
	if err == nil {
		fmt.Fprintln(out, string(content))
	}
	return err
}
