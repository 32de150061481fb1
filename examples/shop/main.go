package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"time"
)

func main() {
	o, err := parseOptions(os.Args[1:])
	if err != nil {
		os.Exit(2) // flag has said why
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err = run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "shop:", err)
		os.Exit(1)
	}
}

// options are the flags of the command line.
type options struct {
	address string
	tills   int
}

func parseOptions(args []string) (o options, err error) {
	flags := flag.NewFlagSet("shop", flag.ContinueOnError)
	flags.StringVar(&o.address, "address", "127.0.0.1:8080", "host and port to listen on")
	flags.IntVar(&o.tills, "tills", 1, "how many orders are taken at once, 1 to 1000")
	return o, flags.Parse(args)
}

// run serves until the context ends.
func run(ctx context.Context, o options) error {
	handler, err := newShop(o.tills)
	if err != nil {
		return err
	}
	server := &http.Server{Addr: o.address, Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	fmt.Printf("shop: http://%s, tills: %d\n", o.address, o.tills)
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
