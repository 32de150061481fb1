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

// run does "serve ADDRESS", "get URL", "resolve NAME", "print FILE",
// "write FILE TEXT" or "name".
func run(ctx context.Context, args []string, out io.Writer) error {
	switch {
	case len(args) == 1 && args[0] == "name":
		return hostName(out)
	case len(args) == 2 && args[0] == "serve":
		return serve(ctx, args[1])
	case len(args) == 2 && args[0] == "get":
		return get(ctx, args[1], out)
	case len(args) == 2 && args[0] == "resolve":
		return resolve(ctx, args[1], out)
	case len(args) == 2 && args[0] == "print":
		return printFile(args[1], out)
	case len(args) == 3 && args[0] == "write":
		return os.WriteFile(args[1], []byte(args[2]), 0o600)
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
