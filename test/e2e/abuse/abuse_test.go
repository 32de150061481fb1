//go:build e2e

package abuse

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
)

// abuseGroups are the abuses, by what they are about. One group runs alone by
// -run TestAbuse/NAME.
var abuseGroups = []abuseGroup{
	{"rights", rightsAbuses},
	{"targets", targetAbuses},
	{"places", placeAbuses},
	{"operator", operatorAbuses},
	{"identity", identityAbuses},
	{"session", sessionAbuses},
	{"stop", stopAbuses},
	{"changes", changeAbuses},
	{"metrics", metricsAbuses},
	{"limits", limitAbuses},
	{"tenancy", tenancyAbuses},
	{"results", resultAbuses},
	{"wire", wireAbuses()},
	{"hostile", hostileAbuses()},
	{"grpc", grpcAbuses()},
	{"crowd", crowdAbuses()},
	{"schedules", scheduleAbuses},
}

type abuseGroup struct {
	name   string
	abuses []abuse
}

// abuse is something harmful that a person without an administrator's rights tries.
type abuse struct {
	name string
	// by is what must refuse it, and words are a part of what it must say.
	by    refuser
	words string
	// try tries it. It fails the test if the abuse could not be tried at all. Its
	// evidence must not be the refusal alone where there is more: a counter that got
	// no request, an object that is not there.
	try func(t *testing.T, people *people) attempt
}

// refuser is a part of the system that refuses.
type refuser string

const (
	schema          refuser = "API schema"
	rbac            refuser = "RBAC"
	authentication  refuser = "API server's authentication"
	podSecurity     refuser = "Pod Security"
	admissionPolicy refuser = "admission policy"
	apiServer       refuser = "API server"
	operator        refuser = "operator"
	coordinator     refuser = "coordinator"
	worker          refuser = "worker"
	kubelet         refuser = "kubelet"
	network         refuser = "network policy"
	plugin          refuser = "plugin"
)

// attempt is what came of an abuse: what refused it with which words, or, if nothing did,
// what shows that it succeeded.
type attempt struct {
	by    refuser
	words string
}

func refused(by refuser, words string) attempt { return attempt{by, words} }

func succeeded(format string, args ...any) attempt {
	return attempt{words: fmt.Sprintf(format, args...)}
}

// abusesAtOnce is how many are tried at the same time: most of them wait for a pod.
const abusesAtOnce = 6

// TestAbuse: what a tenant could do to others is refused. It prints a line for each
// abuse, and the summary last. An abuse that could not be tried is a failure.
func TestAbuse(t *testing.T) {
	checkTable(t)
	people, score := newPeople(t), &abuseScore{}
	t.Cleanup(func() { fmt.Println(score) })
	var tries errgroup.Group
	tries.SetLimit(abusesAtOnce)
	for _, group := range abuseGroups {
		for _, a := range group.abuses {
			tries.Go(func() error {
				t.Run(group.name+"/"+a.name, func(t *testing.T) { score.judge(t, a, people) })
				return nil
			})
		}
	}
	_ = tries.Wait() // each reports its own failure
}

// What comes of an abuse.
const (
	abuseRefused   = "refused"
	abuseSucceeded = "succeeded"
	abuseUntriable = "could not be tried"
)

// abuseScore counts what came of abuses.
type abuseScore struct{ cluster.Scores }

func (s *abuseScore) String() string {
	untriable := s.Count(abuseUntriable)
	line := fmt.Sprintf("abuse: %d tried, %d succeeded", s.All()-untriable, s.Count(abuseSucceeded))
	if untriable > 0 {
		line += fmt.Sprintf(", %d could not be tried", untriable)
	}
	return line
}

func (s *abuseScore) judge(t *testing.T, a abuse, people *people) {
	outcome, line := abuseUntriable, abuseUntriable
	defer func() { s.Note(outcome, "%s   <- %s", line, a.name) }() // also when the test ends in the middle
	got := a.try(t, people)
	switch {
	case t.Failed():
		return
	case got.by == "":
		outcome, line = abuseSucceeded, "SUCCEEDED: "+got.words
		t.Errorf("nothing refused it: %s", got.words)
	default:
		outcome, line = abuseRefused, fmt.Sprintf("refused by %s: %s", got.by, cluster.Excerpt(got.words, a.words))
		if got.by != a.by || !strings.Contains(got.words, a.words) {
			t.Errorf("refused by %s: %s; want by %s: %q", got.by, got.words, a.by, a.words)
		}
	}
}

// checkTable holds the table itself to what its lines need.
func checkTable(t *testing.T) {
	t.Helper()
	names := map[string]bool{}
	for _, group := range abuseGroups {
		for _, a := range group.abuses {
			if a.words == "" || a.by == "" || names[a.name] {
				t.Errorf("%s: it does not name its refusal, or is there twice", a.name)
			}
			names[a.name] = true
		}
	}
}
