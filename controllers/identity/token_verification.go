package identity

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator"
	"github.com/loadtest-dev/loadtest-operator/controllers/fairlimit"
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

// The API server says in these which pod a projected token is bound to.
const (
	extraPodName = "authentication.kubernetes.io/pod-name"
	extraPodUID  = "authentication.kubernetes.io/pod-uid"
)

const (
	// maxReviews is how many run at once. A thousand workers connect in the same
	// second, but the API server serves others, too. At 5 ms each, so many make
	// 6,000 a second.
	maxReviews = 32
	// maxReviewsOfNamespace is how many of them are of one namespace, so that its
	// tokens, which an authenticator of the cluster may take seconds to refuse, leave
	// room for the others: 800 a second.
	maxReviewsOfNamespace = 4
	// maxJunk is how many refused tokens are remembered, some 100 bytes each, and
	// junkFor how long: half as long as a worker that is refused goes on to ask, so that
	// a refusal by mistake ends none.
	maxJunk = 4096
	junkFor = 30 * time.Second
)

// reviews asks the API server whether tokens are valid.
type reviews struct {
	client client.Client
	clock  clock.PassiveClock
	places *fairlimit.Limit
	// junk has the hashes of refused tokens, and until when they are not asked for
	// again.
	junk *lru.Cache[[sha256.Size]byte, time.Time]
}

func newReviews(c client.Client, clk clock.PassiveClock) *reviews {
	junk, err := lru.New[[sha256.Size]byte, time.Time](maxJunk)
	if err != nil {
		panic(fmt.Sprintf("a cache of %d tokens: %v", maxJunk, err)) // its size is a constant
	}
	return &reviews{client: c, clock: clk, places: fairlimit.New(maxReviews, maxReviewsOfNamespace), junk: junk}
}

var errJunk = refuse("the token was refused a moment ago")

// review confirms that a token is valid and bound to the pod that it names.
func (r *reviews) review(ctx context.Context, token string, pod podRef) error {
	hash := sha256.Sum256([]byte(token))
	if r.isJunk(hash) {
		return errJunk
	}
	release, err := r.places.Acquire(ctx, pod.namespace)
	if err != nil {
		return fmt.Errorf("review token: %w", err)
	}
	defer release()
	// The same token may have been refused while this one waited.
	if r.isJunk(hash) {
		return errJunk
	}
	review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token, Audiences: []string{workerv1.Audience}}}
	if err := r.client.Create(ctx, review); err != nil {
		return fmt.Errorf("review token: %w", err)
	}
	err = confirms(&review.Status, pod)
	if errors.Is(err, coordinator.ErrUnauthenticated) {
		r.junk.Add(hash, r.clock.Now().Add(junkFor))
	}
	return err
}

func (r *reviews) isJunk(hash [sha256.Size]byte) bool {
	until, ok := r.junk.Get(hash)
	return ok && r.clock.Now().Before(until)
}

// confirms says whether the API server's answer is about the pod. An answer without
// our audience is of a server that has no audiences: the token may be for
// anything.
func confirms(status *authenticationv1.TokenReviewStatus, pod podRef) error {
	extra := status.User.Extra
	switch {
	case !status.Authenticated:
		return refuse("the token is not valid for audience %s", workerv1.Audience)
	case !slices.Contains(status.Audiences, workerv1.Audience):
		return refuse("the token was not reviewed for audience %s", workerv1.Audience)
	case !strings.HasPrefix(status.User.Username, "system:serviceaccount:"+pod.namespace+":"):
		return refuse("the token is not of a service account in namespace %s", pod.namespace)
	case !slices.Equal(extra[extraPodName], []string{pod.name}) || !slices.Equal(extra[extraPodUID], []string{pod.uid}):
		return refuse("the token is not bound to pod %s/%s", pod.namespace, pod.name)
	}
	return nil
}
