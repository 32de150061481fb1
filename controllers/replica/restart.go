package replica

import (
	"context"
	"os"
	"syscall"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
)

const (
	// RestartPause keeps a process that fails at once from doing so without pause.
	RestartPause = time.Second
	// gracePeriod is how long a stop waits for passes and sessions to end, before the
	// lease is released: less than the 30 s after which a pod is killed.
	gracePeriod = 10 * time.Second
)

// StartOver replaces this process by a new one of the same program, which reads all
// anew: nothing of the old one, be it a pass, a session or a write, goes on. The
// container runs on, so that the kubelet does not delay it as it delays one that
// exits again and again. It does not return.
func StartOver(ctx context.Context, reason error) {
	log := ctrl.Log.WithName("replica")
	if ctx.Err() != nil {
		log.Error(reason, "stop was not orderly")
		os.Exit(1)
	}
	log.Info("start over", "reason", reason.Error())
	program, err := os.Executable()
	if err == nil {
		err = syscall.Exec(program, os.Args, os.Environ())
	}
	log.Error(err, "cannot start over")
	os.Exit(1)
}

// Pause waits for d, or until ctx ends.
func Pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
