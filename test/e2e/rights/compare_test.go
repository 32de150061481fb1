package rights

import (
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

const username = "system:serviceaccount:loadtest-system:loadtest-operator"

var account = Account{Username: username, Stolen: "theft"}

// line is a line of a log, as kube-apiserver writes it.
func line(user, verb, object, more string) string {
	return `{"kind":"Event","stage":"ResponseComplete","verb":"` + verb + `","user":{"username":"` + user + `"},"objectRef":` + object +
		`,"requestReceivedTimestamp":"2026-11-20T10:00:00.5Z","annotations":{"authorization.k8s.io/decision":"allow"}` + more + "}\n"
}

func TestReadTakesTheAccountsOwnRequests(t *testing.T) {
	pod := `{"resource":"pods","namespace":"a","apiVersion":"v1"}`
	log := line(username, "list", pod, "") + line(username, "list", pod, "") +
		line(username, "patch", `{"resource":"loadtests","namespace":"a","name":"x","apiGroup":"loadtest.dev","subresource":"status"}`, "") +
		line("kubernetes-admin", "delete", pod, "") +
		line("kubernetes-admin", "create", pod, `,"impersonatedUser":{"username":"`+username+`"}`) +
		line(username, "create", pod, `,"userAgent":"theft"`) +
		line(username, "get", "null", "")
	got := map[Request]bool{}
	must.Succeed(t, Read(got, strings.NewReader(log), account, time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)))
	want := map[Request]bool{
		{Verb: "list", Resource: "pods", Namespace: "a"}:                                                true,
		{Verb: "patch", Group: "loadtest.dev", Resource: "loadtests/status", Namespace: "a", Name: "x"}: true,
	}
	same.As(t, "requests", want, got)
	if err := Read(got, strings.NewReader(log), account, time.Date(2026, 11, 20, 10, 0, 1, 0, time.UTC)); err != nil || len(got) != 2 {
		t.Errorf("what is older is taken: %v, %v", got, err)
	}
	if err := Read(got, strings.NewReader("{"), account, time.Time{}); err == nil {
		t.Error("half a line is taken for a log")
	}
}

func TestCompareInBothDirections(t *testing.T) {
	grants := []Grant{
		{"", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get", "list"}}},
		{"own", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"update"}, ResourceNames: []string{"key", "spare"}}},
		{"own", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"create"}}},
		{"own", rbacv1.PolicyRule{APIGroups: []string{"batch"}, Resources: []string{"jobs"}, Verbs: []string{"*"}}},
	}
	requests := map[Request]bool{
		{Verb: "list", Resource: "pods", Namespace: "a"}:                                        true,
		{Verb: "list", Resource: "pods"}:                                                        true,
		{Verb: "update", Resource: "secrets", Namespace: "own", Name: "key"}:                    true,
		{Verb: "update", Resource: "secrets", Namespace: "other", Name: "key", Forbidden: true}: true,
		{Verb: "create", Resource: "secrets", Namespace: "own", Name: "key", Forbidden: true}:   true, // covered
		{Verb: "get", Resource: "pods/log", Namespace: "a"}:                                     true,
		{Verb: "delete", Group: "batch", Resource: "jobs", Namespace: "own", Name: "x"}:         true,
	}
	got := Compare(grants, requests)
	want := Comparison{
		Granted: 6, Used: 4,
		Unused:    []string{"get pods in all namespaces", "update secrets spare in own"},
		Refused:   []string{"get pods/log in a, allowed by no role of its own", "update secrets key in other"},
		Wildcards: []string{"* jobs.batch in own"},
	}
	same.As(t, "comparison", want, got)
	if got.String() != "rbac: granted 6, used 4, unused 2, refused 2, wildcards 1" || len(got.Details()) != 5 {
		t.Errorf("it reads %q, %q", got, got.Details())
	}
}
