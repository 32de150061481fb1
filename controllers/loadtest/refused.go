package loadtest

import (
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/controllers/loadtest/lifecycle"
	"github.com/loadtest-dev/loadtest-operator/text"
)

// maxRefusal bounds the sentence of the API server in a message of ours.
const maxRefusal = 512

// refusedBy says whether an error is a refusal: the API server, or what it asks before
// it stores an object, has seen the object and does not take it. Any other error says
// nothing of the object.
func refusedBy(err error, now time.Time) (refusal *lifecycle.Refusal, ok bool) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return nil, false
	}
	s := status.Status()
	if !isRefusal(s) {
		return nil, false
	}
	message := objectName.ReplaceAllString(s.Message, "")
	message = unchecked.ReplaceAllString(message, "$1")
	message = ofWorker.ReplaceAllString(message, "spec.worker.$2")
	return &lifecycle.Refusal{Message: text.Clean(message, maxRefusal), Permanent: isPermanent(s), At: now}, true
}

// RefusalOf is why an object was refused, as a user may read it.
func RefusalOf(err error) (message string, ok bool) {
	refusal, ok := refusedBy(err, time.Time{})
	if !ok {
		return "", false
	}
	return refusal.Message, true
}

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
