package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/command"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/display"
)

func main() {
	// What the client libraries log is either returned as an error as well, or no
	// concern of the person at the keyboard.
	ctrllog.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	log.SetOutput(io.Discard) // net/http has a line for each odd frame that a target sends
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := command.Execute(ctx, os.Args[1:], command.Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Size: display.SizeOf(os.Stderr),
	})
	stop()
	os.Exit(code)
}
