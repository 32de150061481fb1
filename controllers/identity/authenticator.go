package identity

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator"
)

// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create

// Authenticator finds the worker of a run that a token belongs to. It is safe for use by
// many goroutines.
type Authenticator struct {
	client  client.Client
	clock   clock.PassiveClock
	reviews *reviews
}

var _ coordinator.Authenticator = (*Authenticator)(nil)

// New returns an Authenticator that reads through a client's cache.
func New(c client.Client, clk clock.PassiveClock) *Authenticator {
	return &Authenticator{client: c, clock: clk, reviews: newReviews(c, clk)}
}

// Authenticate verifies a token. Its error wraps coordinator.ErrUnauthenticated
// if the token is not one of a worker's; any other error may pass.
func (a *Authenticator) Authenticate(ctx context.Context, token string) (coordinator.Identity, error) {
	pod, err := claimedPod(token, a.clock.Now())
	if err != nil {
		return coordinator.Identity{}, err
	}
	identity, err := a.workerOf(ctx, pod)
	if err != nil {
		return coordinator.Identity{}, err
	}
	if err := a.reviews.review(ctx, token, pod); err != nil {
		return coordinator.Identity{}, err
	}
	return identity, nil
}

// Check follows the chain of an identity again. What was there and is not now has
// been deleted.
func (a *Authenticator) Check(ctx context.Context, identity coordinator.Identity) error {
	now, err := a.workerOf(ctx, podRef{namespace: identity.Namespace, name: identity.Pod, uid: identity.PodUID})
	switch {
	case errors.Is(err, errNotFound):
		return refuse("%v", err)
	case err != nil:
		return err
	case now.Run != identity.Run || now.Worker != identity.Worker:
		return refuse("pod %s/%s belongs to another worker now", identity.Namespace, identity.Pod)
	}
	return nil
}

func refuse(format string, args ...any) error {
	return errors.Join(coordinator.ErrUnauthenticated, fmt.Errorf(format, args...))
}
