package identity

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	workerv1 "github.com/loadtest-dev/loadtest-operator/api/worker/v1"
	"github.com/loadtest-dev/loadtest-operator/controllers/coordinator"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

const reviewTimeout = 2 * time.Minute

// slowServer holds each review until the test lets it answer; it refuses all tokens
// but those in valid.
type slowServer struct {
	entered chan string
	answer  chan struct{}
	valid   map[string]podRef
	// now is how many reviews run, most the most of them.
	now, most atomic.Int32
}

func newSlowServer() *slowServer {
	return &slowServer{entered: make(chan string, 1000), answer: make(chan struct{}), valid: map[string]podRef{}}
}

func (s *slowServer) client() client.Client {
	return interceptor.NewClient(nil, interceptor.Funcs{
		Create: func(ctx context.Context, _ client.WithWatch, obj client.Object, _ ...client.CreateOption) error {
			review := obj.(*authenticationv1.TokenReview)
			now := s.now.Add(1)
			defer s.now.Add(-1)
			for most := s.most.Load(); now > most && !s.most.CompareAndSwap(most, now); most = s.most.Load() {
			}
			s.entered <- review.Spec.Token
			select {
			case <-s.answer:
			case <-ctx.Done():
				return ctx.Err()
			}
			if pod, ok := s.valid[review.Spec.Token]; ok {
				review.Status = authenticationv1.TokenReviewStatus{Authenticated: true, Audiences: []string{workerv1.Audience}, User: authenticationv1.UserInfo{
					Username: "system:serviceaccount:" + pod.namespace + ":default",
					Extra:    map[string]authenticationv1.ExtraValue{extraPodName: {pod.name}, extraPodUID: {pod.uid}},
				}}
			}
			return nil
		},
	})
}

// A namespace whose tokens take long to refuse leaves room for the others.
func TestReviewsOfANamespaceAreBounded(t *testing.T) {
	server := newSlowServer()
	honest := podRef{"team-b", "hello-0-abcde", "uid"}
	server.valid["honest"] = honest
	r := newReviews(server.client(), clocktesting.NewFakePassiveClock(time.Now()))
	ctx, cancel := context.WithTimeout(t.Context(), reviewTimeout)
	defer cancel()
	var group sync.WaitGroup
	for i := range 100 {
		group.Go(func() { _ = r.review(ctx, fmt.Sprint("junk ", i), podRef{"team-a", "pod", "uid"}) })
	}
	for range maxReviewsOfNamespace {
		<-server.entered
	}
	verified := make(chan error)
	go func() { verified <- r.review(ctx, "honest", honest) }()
	select {
	case token := <-server.entered:
		if token != "honest" {
			t.Errorf("beside %d reviews of team-a runs that of %q, want the one of team-b", maxReviewsOfNamespace, token)
		}
	case <-ctx.Done():
		t.Error("the review of team-b waits for those of team-a")
	}
	impatient, give := context.WithCancel(ctx)
	give()
	if err := r.review(impatient, "junk", podRef{namespace: "team-a"}); !errors.Is(err, context.Canceled) || errors.Is(err, coordinator.ErrUnauthenticated) {
		t.Errorf("without room: %v, want an error that may pass", err)
	}
	close(server.answer)
	must.Report(t, "the honest one", <-verified)
	group.Wait()
	if taken, namespaces := r.places.Counts(); taken != 0 || namespaces != 0 {
		t.Errorf("%d places of %d namespaces are left", taken, namespaces)
	}
}

func TestReviewsAreBoundedInAll(t *testing.T) {
	const namespaces = 2 * maxReviews
	server := newSlowServer()
	r := newReviews(server.client(), clocktesting.NewFakePassiveClock(time.Now()))
	ctx, cancel := context.WithTimeout(t.Context(), reviewTimeout)
	var group sync.WaitGroup
	for i := range namespaces {
		group.Go(func() { _ = r.review(ctx, fmt.Sprint("junk ", i), podRef{namespace: fmt.Sprint("team-", i)}) })
	}
	for range maxReviews {
		<-server.entered
	}
	cancel() // those that wait, and those that run
	group.Wait()
	same.As(t, "reviews that ran at once", maxReviews, server.most.Load())
	close(server.answer)
	if err := r.review(t.Context(), "junk", podRef{namespace: "team-a"}); !errors.Is(err, coordinator.ErrUnauthenticated) {
		t.Errorf("after the others ended: %v, want that it is refused", err)
	}
}

func TestRefusedTokensAreNotReviewedAgain(t *testing.T) {
	server := newSlowServer()
	close(server.answer)
	pod := podRef{"team-a", "hello-0-abcde", "uid"}
	server.valid["honest"] = pod
	now := clocktesting.NewFakePassiveClock(time.Now())
	r := newReviews(server.client(), now)
	for i, want := range []int{1, 1, 2} {
		if i == 2 {
			now.SetTime(now.Now().Add(junkFor))
		}
		if err := r.review(t.Context(), "junk", pod); !errors.Is(err, coordinator.ErrUnauthenticated) || len(server.entered) != want {
			t.Errorf("try %d: %v after %d reviews, want that it is refused after %d", i, err, len(server.entered), want)
		}
	}
	for range 2 { // a token that is valid may be revoked
		if err := r.review(t.Context(), "honest", pod); err != nil {
			t.Error(err)
		}
	}
	same.As(t, "reviews", 4, len(server.entered))
	for i := range 2 * maxJunk {
		r.junk.Add([32]byte{byte(i), byte(i >> 8)}, now.Now())
	}
	same.As(t, "refused tokens are remembered", maxJunk, r.junk.Len())
}
