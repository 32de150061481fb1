package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/loadtest-dev/loadtest-operator/hack/demo/outcome"
	"github.com/loadtest-dev/loadtest-operator/hack/deploy"
)

// errUnexpected says that all went well, but not as it should.
var errUnexpected = errors.New("NOT as expected")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	sentence, err := run(ctx)
	switch {
	case deploy.Interrupted(ctx):
		fmt.Println("\ndemo: NOT as expected: interrupted; make demo begins anew, make cluster-down takes the cluster down")
	case errors.Is(err, errUnexpected):
		fmt.Printf("\ndemo: NOT as expected: %s\n", sentence)
	case err != nil:
		fmt.Printf("\ndemo: NOT as expected: %v\n", err)
	default:
		fmt.Printf("\ndemo: as expected: %s\n", sentence)
		return
	}
	stop()
	os.Exit(1)
}

func run(ctx context.Context) (string, error) {
	target, err := deploy.ClusterOf(os.Getenv)
	if err != nil {
		return "", err
	}
	d := &demo{Tools: deploy.Tools{Out: os.Stdout, Err: os.Stderr}, cluster: target}
	if err := d.phases(ctx); err != nil {
		return "", err
	}
	sentence, ok := outcome.Judge(d.results)
	if !ok {
		return sentence, errUnexpected
	}
	return sentence, nil
}
