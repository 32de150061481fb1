package replica

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create

const (
	// maxScrapeReviews is how many requests for metrics are reviewed at once: scrapers
	// ask a few times a minute, and the API server serves others, too.
	maxScrapeReviews = 4
	// scrapeReviewTimeout bounds a review, and the wait for one: half of the time that
	// Prometheus waits for its answer.
	scrapeReviewTimeout = 5 * time.Second
)

// Scrapers lets those read metrics whom the API server lets get their path: a
// TokenReview says whose the bearer token is, a SubjectAccessReview what they may do.
// Unlike the filter of controller-runtime it answers 401 to a token that is not valid,
// as to none, and writes no line of the log for it.
type Scrapers struct {
	client client.Client
	places chan struct{}
}

// NewScrapers returns a gate that asks through a client.
func NewScrapers(c client.Client) *Scrapers {
	return &Scrapers{client: c, places: make(chan struct{}, maxScrapeReviews)}
}

var (
	errNoToken   = errors.New("a bearer token is required")
	errBadToken  = errors.New("the token is not valid")
	errForbidden = errors.New("the token may not get this path: bind its service account to a role with the nonResourceURL")
)

// Only passes on the requests that may be answered.
func (s *Scrapers) Only(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch err := s.review(r); {
		case err == nil:
			next.ServeHTTP(w, r)
		case errors.Is(err, errNoToken), errors.Is(err, errBadToken):
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, err.Error(), http.StatusUnauthorized)
		case errors.Is(err, errForbidden):
			http.Error(w, err.Error(), http.StatusForbidden)
		default:
			ctrl.Log.WithName("metrics").Error(err, "cannot review a request")
			http.Error(w, "the API server could not be asked", http.StatusServiceUnavailable)
		}
	})
}

// review is nil if the API server lets the bearer of the request's token get its path.
func (s *Scrapers) review(r *http.Request) error {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return errNoToken
	}
	ctx, cancel := context.WithTimeout(r.Context(), scrapeReviewTimeout)
	defer cancel()
	select {
	case s.places <- struct{}{}:
		defer func() { <-s.places }()
	case <-ctx.Done():
		return fmt.Errorf("wait for a review: %w", ctx.Err())
	}
	user, err := s.authenticate(ctx, token)
	if err != nil {
		return err
	}
	return s.authorize(ctx, user, r.URL.Path)
}

// authenticate asks for no audience: the token is one for the API server.
func (s *Scrapers) authenticate(ctx context.Context, token string) (authenticationv1.UserInfo, error) {
	review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}
	if err := s.client.Create(ctx, review); err != nil {
		return authenticationv1.UserInfo{}, fmt.Errorf("review token: %w", err)
	}
	if !review.Status.Authenticated {
		return authenticationv1.UserInfo{}, errBadToken
	}
	return review.Status.User, nil
}

func (s *Scrapers) authorize(ctx context.Context, user authenticationv1.UserInfo, path string) error {
	extra := make(map[string]authorizationv1.ExtraValue, len(user.Extra))
	for key, value := range user.Extra {
		extra[key] = authorizationv1.ExtraValue(value)
	}
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user.Username, Groups: user.Groups, UID: user.UID, Extra: extra,
		NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: path, Verb: "get"},
	}}
	if err := s.client.Create(ctx, review); err != nil {
		return fmt.Errorf("review access: %w", err)
	}
	if !review.Status.Allowed {
		return errForbidden
	}
	return nil
}
