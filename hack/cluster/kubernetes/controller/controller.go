package controller

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/workqueue"
)

// The delay of a retry: it doubles from the first to the longest.
const (
	firstRetry   = 100 * time.Millisecond
	longestRetry = 2 * time.Second
)

// everything is the only key of the queue.
const everything = "everything"

// Controller calls Reconcile at the start and after each change of an object.
type Controller struct {
	// Factory makes the informers. Only those that are in use are started.
	Factory informers.SharedInformerFactory
	// Debounce is the delay between a change and the call of Reconcile. Further
	// changes in it cause no further call.
	Debounce time.Duration
	// Reconcile is called again after an error.
	Reconcile func(context.Context) error
	// Logf gets the errors of Reconcile.
	Logf func(format string, args ...any)
}

// Run watches with the informers until the context ends.
func (c Controller) Run(ctx context.Context, watched ...cache.SharedIndexInformer) error {
	queue := workqueue.NewTypedRateLimitingQueue(
		workqueue.NewTypedItemExponentialFailureRateLimiter[string](firstRetry, longestRetry))
	defer context.AfterFunc(ctx, queue.ShutDown)()
	enqueue := func() { queue.AddAfter(everything, c.Debounce) }
	for _, informer := range watched {
		_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { enqueue() },
			UpdateFunc: func(any, any) { enqueue() },
			DeleteFunc: func(any) { enqueue() },
		})
		if err != nil {
			return fmt.Errorf("watch: %w", err)
		}
	}
	c.Factory.StartWithContext(ctx)
	defer c.Factory.Shutdown()
	c.Factory.WaitForCacheSyncWithContext(ctx)
	queue.Add(everything) // an empty cluster causes no event
	for c.next(ctx, queue) {
	}
	return nil
}

// next is false after the end of the context.
func (c Controller) next(ctx context.Context, queue workqueue.TypedRateLimitingInterface[string]) bool {
	key, shutdown := queue.Get()
	if shutdown || ctx.Err() != nil {
		return false
	}
	defer queue.Done(key)
	if err := c.Reconcile(ctx); err != nil {
		c.Logf("%v", err)
		queue.AddRateLimited(key)
		return true
	}
	queue.Forget(key)
	return true
}

// NewCommand is a program that runs a controller as the client of the API server
// that the kubeconfig names.
func NewCommand(name, summary string, run func(context.Context, kubernetes.Interface) error) *cobra.Command {
	var kubeconfig string
	command := &cobra.Command{
		Use: name, Short: summary, Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			client, err := newClient(kubeconfig)
			if err != nil {
				return err
			}
			return run(command.Context(), client)
		},
	}
	RequiredFlag(command, &kubeconfig, "kubeconfig", "`file` with the address of the API server and our credentials")
	return command
}

// RequiredFlag adds a flag that must be given.
func RequiredFlag(command *cobra.Command, value *string, name, usage string) {
	command.Flags().StringVar(value, name, "", usage)
	cobra.CheckErr(command.MarkFlagRequired(name))
}

func newClient(kubeconfig string) (kubernetes.Interface, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	config.QPS = -1 // the API server limits its clients itself
	return kubernetes.NewForConfig(config)
}
