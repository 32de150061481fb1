package runs

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/overview"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/progress"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
	"github.com/loadtest-dev/loadtest-operator/controllers/loadtestschedule/decision"
)

// Key names a LoadTest, a schedule or a family.
type Key struct{ Namespace, Name string }

// Run is a LoadTest in a list. It is not changed once it is in a Collection.
type Run struct {
	overview.Row
	UID types.UID
	// Finished says that it has ended, in whatever way.
	Finished bool
	// Sustained is the largest load that was kept, in words, and Load the same as a number
	// of Unit; 0: none was.
	Sustained, Unit string
	Load            float64
	// Late is p95 of the step that says most of the run or, with loads, of all requests of all; 0: it is not
	// known.
	Late time.Duration
	// Started is when the operator took it up; zero: it has not.
	Started time.Time
	// Schedule started the run; "": none did. Family is the schedule or, without one, the name
	// that the run shares with others of its kind.
	Schedule, Family string
}

// Key is the run's own.
func (r *Run) Key() Key { return Key{r.Namespace, r.Name} }

// Newer compares runs for a list in which the newest comes first. Runs of one file are created
// in the same second: of these, the one that started last is the newest, or has not started.
func Newer(a, b *Run) int {
	started := b.Started.Compare(a.Started)
	if a.Started.IsZero() || b.Started.IsZero() {
		started = -started
	}
	return cmp.Or(b.Created.Compare(a.Created), started, cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// New is the line of a LoadTest.
func New(lt *v1beta1.LoadTest) *Run {
	s := &lt.Status
	r := &Run{Row: overview.New(lt), UID: lt.UID, Finished: progress.Finished(lt), Sustained: s.Summary.Sustained}
	switch {
	case s.MaxSustainedUsers != nil:
		r.Load, r.Unit = float64(*s.MaxSustainedUsers), "users"
		r.Sustained = fmt.Sprintf("%d users", *s.MaxSustainedUsers)
	case s.MaxSustainedRate != "":
		r.Load, r.Unit = report.Number(s.MaxSustainedRate), "/s"
		if report.OfSessions(s) {
			r.Unit = " sessions/s"
		}
		r.Sustained = s.MaxSustainedRate + r.Unit
	}
	r.Late = lateOf(s)
	if s.StartTime != nil {
		r.Started = s.StartTime.Time
	}
	r.Schedule = scheduleOf(lt)
	r.Family = familyOf(lt, r.Schedule)
	return r
}

func lateOf(s *v1beta1.LoadTestStatus) time.Duration {
	var l *v1beta1.Latency
	switch step := report.Telling(s); {
	case step != nil:
		l = step.Result.ResponseTime
	case s.Together != nil && len(s.LackingLoads()) == 0:
		l = s.Together.ResponseTime
	}
	if l == nil || l.P95 == nil {
		return 0
	}
	return l.P95.Duration
}

// scheduleOf is the name of the schedule that started a LoadTest. The label alone would not
// do: rerun copies labels.
func scheduleOf(lt *v1beta1.LoadTest) string {
	if owner := metav1.GetControllerOf(lt); owner != nil && owner.Kind == "LoadTestSchedule" {
		return owner.Name
	}
	return lt.Labels[decision.LabelSchedule]
}

// AnnotationRerunOf names, on a LoadTest that rerun made, the one whose spec it has.
const AnnotationRerunOf = "loadtest.dev/rerun-of"

// numbered ends names that people and programs count: burst-3, burst-v4.
var numbered = regexp.MustCompile(`-v?\d+$`)

// longNamed begins the names of what the action of Argo CD runs again where the name of the first is too long: runs of
// different kinds have it.
const longNamed = "rerun"

// familyOf is what a run and others of its kind are called. The loads of a run are of different kinds, each with those
// of the same name in other runs.
func familyOf(lt *v1beta1.LoadTest, schedule string) string {
	if owner := metav1.GetControllerOf(lt); owner != nil && owner.Kind == "LoadTest" {
		if load, ok := strings.CutPrefix(lt.Name, owner.Name); ok {
			return withoutNumber(owner.Name) + load
		}
	}
	name, again, stem := lt.Name, lt.Annotations[AnnotationRerunOf], strings.TrimRight(lt.GenerateName, "-.")
	switch isGenerated := strings.HasPrefix(cmp.Or(again, name), lt.GenerateName) && stem != ""; {
	case schedule != "":
		return schedule
	case again != "" && (!isGenerated || stem == longNamed):
		name = again
	case isGenerated: // of one that was run again and again, each has the first's
		name = stem
	}
	return withoutNumber(name)
}

func withoutNumber(name string) string { return cmp.Or(numbered.ReplaceAllString(name, ""), name) }
