package writes

import (
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/text"
)

// Refusal is why an object was not stored.
type Refusal struct {
	// Message is a sentence that a user may read, of at most MaxMessage bytes.
	Message string
	// Permanent says that the object itself is at fault: it will never be stored.
	Permanent bool
}

// RefusalOf returns the refusal that an error is: the API server, or what it asks before
// it stores an object, has seen the object and does not store it. Any other error, for
// which ok is false, says nothing about the object.
func RefusalOf(err error) (refusal Refusal, ok bool) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return Refusal{}, false
	}
	s := status.Status()
	if !isRefusal(s) {
		return Refusal{}, false
	}
	message := WithoutObject(s.Message)
	message = unchecked.ReplaceAllString(message, "$1")
	message = ofWorker.ReplaceAllString(message, "spec.worker.$2")
	return Refusal{Message: text.Clean(message, MaxMessage), Permanent: isPermanent(s)}, true
}

// objectName is what the API server says before the reason.
var objectName = regexp.MustCompile(`^(Error creating: )?([A-Za-z.]+ "[^"]*" is (forbidden|invalid): )?`)

// WithoutObject returns what the API server says after the name of the object. The name of
// a generated object is another one at each attempt, and a condition's message must not be.
func WithoutObject(message string) string { return objectName.ReplaceAllString(message, "") }

// unchecked is what is added to what is wrong with an object of a CRD.
var unchecked = regexp.MustCompile(`^\[(.*), <nil>: Invalid value: null: some validation rules were not checked .*\]$`)

// ofWorker are the fields of a Job that a LoadTest has in spec.worker.
var ofWorker = regexp.MustCompile(`\bspec\.template\.spec\.(containers\[0\]\.)?(resources|image|imagePullPolicy|tolerations|nodeSelector)\b`)

// tooLarge are sentences of the store and of its client for which there is no code.
var tooLarge = []string{"request is too large", "trying to send message larger than max"}

func isRefusal(s metav1.Status) bool {
	switch {
	case slices.Contains([]int32{http.StatusUnauthorized, http.StatusNotFound, http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests}, s.Code):
		return false
	case s.Code >= http.StatusBadRequest && s.Code < http.StatusInternalServerError:
		return true
	case strings.Contains(s.Message, "failed calling webhook"):
		return true
	}
	return isTooLarge(s)
}

func isTooLarge(s metav1.Status) bool {
	return s.Code == http.StatusRequestEntityTooLarge ||
		strings.Contains(s.Message, tooLarge[0]) || strings.Contains(s.Message, tooLarge[1])
}

// isPermanent says whether the object itself is at fault: it breaks the schema, or is
// too large. A policy, which may say Invalid too, names no field, and may be changed.
func isPermanent(s metav1.Status) bool {
	if isTooLarge(s) {
		return true
	}
	if s.Reason != metav1.StatusReasonInvalid || s.Details == nil || len(s.Details.Causes) == 0 {
		return false
	}
	for _, cause := range s.Details.Causes {
		if cause.Field == "" {
			return false
		}
	}
	return true
}
