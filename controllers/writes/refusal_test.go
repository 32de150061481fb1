package writes

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Only what concerns the object itself is a refusal, and only what breaks the schema or
// is too large will never be taken.
func TestErrorsThatAreRefusals(t *testing.T) {
	jobs := schema.GroupResource{Group: "batch", Resource: "jobs"}
	policy := apierrors.NewForbidden(jobs, "hello", errors.New("ValidatingAdmissionPolicy 'p' denied request: no"))
	policy.ErrStatus.Reason, policy.ErrStatus.Code = metav1.StatusReasonInvalid, 422
	policy.ErrStatus.Details.Causes = []metav1.StatusCause{{Message: "no"}}
	stored := func(message string) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Code: 500, Message: message}}
	}
	for name, tc := range map[string]struct {
		err       error
		message   string // empty: no refusal
		permanent bool
	}{
		"none":       {nil, "", false},
		"network":    {errors.New("connection refused"), "", false},
		"internal":   {apierrors.NewInternalError(errors.New("etcd is away")), "", false},
		"busy":       {apierrors.NewTooManyRequests("slow down", 1), "", false},
		"conflict":   {apierrors.NewConflict(jobs, "hello", errors.New("changed")), "", false},
		"timeout":    {apierrors.NewServerTimeout(jobs, "create", 1), "", false},
		"stranger":   {apierrors.NewUnauthorized("who"), "", false},
		"quota":      {apierrors.NewForbidden(jobs, "hello", errors.New("exceeded quota: tests")), "exceeded quota: tests", false},
		"policy":     {policy, "ValidatingAdmissionPolicy 'p' denied request: no", false},
		"no webhook": {apierrors.NewInternalError(errors.New(`failed calling webhook "jobs.example.com": connection refused`)), `Internal error occurred: failed calling webhook "jobs.example.com": connection refused`, false},
		"invalid": {
			apierrors.NewInvalid(batchv1.SchemeGroupVersion.WithKind("Job").GroupKind(), "hello", field.ErrorList{
				field.Required(field.NewPath("spec", "template", "spec", "containers").Index(0).Child("image"), ""),
			}),
			"spec.worker.image: Required value", true,
		},
		"too large a request": {apierrors.NewRequestEntityTooLargeError("limit is 3145728"), "Request entity too large: limit is 3145728", true},
		"too large to store":  {stored("etcdserver: request is too large"), "etcdserver: request is too large", true},
		"too large to send":   {stored("rpc error: code = ResourceExhausted desc = trying to send message larger than max (3 vs. 2)"), "rpc error: code = ResourceExhausted desc = trying to send message larger than max (3 vs. 2)", true},
		"wrapped":             {fmt.Errorf("create Job: %w", apierrors.NewBadRequest("no\x1b[31m")), "no[31m", false},
		"long":                {apierrors.NewBadRequest(strings.Repeat("x", 600)), strings.Repeat("x", MaxMessage-3) + "…", false},
	} {
		t.Run(name, func(t *testing.T) {
			got, refused := RefusalOf(tc.err)
			if refused != (tc.message != "") {
				t.Fatalf("refused: %t, want %t", refused, !refused)
			}
			if refused && (got.Message != tc.message || got.Permanent != tc.permanent) {
				t.Errorf("got %q, permanent: %t; want %q, %t", got.Message, got.Permanent, tc.message, tc.permanent)
			}
		})
	}
}
