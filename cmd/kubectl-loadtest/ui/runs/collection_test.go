package runs_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/ui/runs"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

var key = runs.Key{Namespace: "shop", Name: "a"}

// Of a LoadTest that no page shows, only its line is kept. One that was read while an update
// came is not shown older than the update.
func TestOnlyWhatIsShownIsKeptWhole(t *testing.T) {
	c := runs.NewCollection()
	c.Put(test("a", "1"))
	if lt := c.Want(key); lt != nil {
		t.Fatalf("LoadTest %s was kept before a page wanted it", lt.Name)
	}
	c.Put(test("a", "3"))
	if got := c.Read(test("a", "2")); got.ResourceVersion != "3" {
		t.Errorf("version %s is shown, want that of the update, 3", got.ResourceVersion)
	}
	other := test("a", "9")
	other.UID = "another"
	c.Put(other)
	if lt := c.Want(key); lt != nil {
		t.Errorf("version %s of a LoadTest that was replaced is shown", lt.ResourceVersion)
	}
	c.Remove(key)
	if c.Run(key) != nil || c.Want(key) != nil {
		t.Error("a deleted LoadTest is still there")
	}
	if got := c.Read(test("a", "9")); got == nil || c.Want(key) != nil {
		t.Error("a LoadTest that was deleted while it was read is kept")
	}
}

func TestSubscribersHearOfChangesOnce(t *testing.T) {
	c := runs.NewCollection()
	changed, end := c.Subscribe()
	c.Put(test("a", "1"))
	c.Put(test("b", "1"))
	<-changed
	select {
	case <-changed:
		t.Error("two changes were said twice")
	default:
	}
	c.Trouble("LoadTests", "gone")
	<-changed
	c.Trouble("LoadTests", "gone")
	end()
	c.Remove(key)
	select {
	case <-changed:
		t.Error("what did not change, or came after the end, was said")
	default:
	}
}

// Rates are those between two updates, and begin anew with each step.
func TestCourse(t *testing.T) {
	begun := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	c := runs.NewCollection()
	put := func(step int32, seconds int, due, sent, inFlight, failed int64) {
		lt := test("a", "1")
		lt.Status.CurrentStep = step
		for range step + 1 {
			lt.Status.Steps = append(lt.Status.Steps, v1beta1.StepStatus{Load: v1beta1.StepLoad{WarmUp: &metav1.Duration{Duration: time.Second}}})
		}
		s := &lt.Status.Steps[step]
		s.StartTime = &metav1.MicroTime{Time: begun.Add(time.Duration(step) * 10 * time.Second)}
		s.ReportedUntil = &metav1.MicroTime{Time: s.StartTime.Add(time.Duration(seconds) * time.Second)}
		s.Result = &v1beta1.StepResult{Due: due, Counts: v1beta1.Counts{Sent: sent, InFlight: inFlight, Failed: failed}}
		c.Put(lt)
	}
	put(0, 3, 20, 18, 4, 0)
	put(0, 3, 20, 18, 4, 0) // the same update
	put(0, 5, 60, 48, 10, 6)
	put(1, 2, 7, 7, 0, 0)
	var got [][5]float64
	for _, m := range c.Course(key) {
		got = append(got, [5]float64{m.Due, m.Sent, m.Answered, m.Failed, m.Outstanding})
	}
	want := [][5]float64{{10, 9, 7, 0, 4}, {20, 15, 12, 3, 10}, {7, 7, 7, 0, 0}}
	if len(got) != len(want) {
		t.Fatalf("moments %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("moment %d: %v, want %v", i, got[i], want[i])
		}
	}
}

func TestFamilies(t *testing.T) {
	yes := true
	owner := []metav1.OwnerReference{{Kind: "LoadTestSchedule", Name: "nightly", Controller: &yes}}
	parent := []metav1.OwnerReference{{Kind: "LoadTest", Name: "sale-28", Controller: &yes}}
	for name, tt := range map[string]struct {
		meta metav1.ObjectMeta
		want string
	}{
		"a load":                     {metav1.ObjectMeta{Name: "sale-28-tier-1", OwnerReferences: parent}, "sale-tier-1"},
		"another load":               {metav1.ObjectMeta{Name: "sale-28-tier-2", OwnerReferences: parent}, "sale-tier-2"},
		"a schedule":                 {metav1.ObjectMeta{Name: "nightly-28", OwnerReferences: owner}, "nightly"},
		"numbered":                   {metav1.ObjectMeta{Name: "burst-12"}, "burst"},
		"versions":                   {metav1.ObjectMeta{Name: "burst-v2"}, "burst"},
		"generated":                  {metav1.ObjectMeta{Name: "burst-x7k2p", GenerateName: "burst-"}, "burst"},
		"run again":                  {metav1.ObjectMeta{Name: "other", Annotations: map[string]string{runs.AnnotationRerunOf: "burst-3"}}, "burst"},
		"run again and again":        {metav1.ObjectMeta{Name: "burst-x7k2p", GenerateName: "burst-", Annotations: map[string]string{runs.AnnotationRerunOf: "burst-abcde"}}, "burst"},
		"run again, of a long name":  {metav1.ObjectMeta{Name: "rerun-x7k2p", GenerateName: "rerun-", Annotations: map[string]string{runs.AnnotationRerunOf: "rerun-abcde"}}, "rerun-abcde"},
		"generated without a hyphen": {metav1.ObjectMeta{Name: "burstx7k2p", GenerateName: "burst"}, "burst"},
		"alone":                      {metav1.ObjectMeta{Name: "burst"}, "burst"},
		"a number":                   {metav1.ObjectMeta{Name: "-12"}, "-12"},
	} {
		same.As(t, name+": family", tt.want, runs.New(&v1beta1.LoadTest{ObjectMeta: tt.meta}).Family)
	}
}

// Runs of one file are created in the same second.
func TestNewestIsFirst(t *testing.T) {
	created := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	c := runs.NewCollection()
	for name, at := range map[string]struct{ created, started int }{"first": {0, 1}, "second": {0, 20}, "waits": {0, -1}, "later": {5, 6}} {
		lt := test(name, "1")
		lt.CreationTimestamp = metav1.NewTime(created.Add(time.Duration(at.created) * time.Second))
		if at.started >= 0 {
			lt.Status.StartTime = &metav1.Time{Time: created.Add(time.Duration(at.started) * time.Second)}
		}
		c.Put(lt)
	}
	list, _ := c.Runs()
	for i, want := range []string{"later", "waits", "second", "first"} {
		if list[i].Name != want {
			t.Errorf("run %d is %s, want %s", i, list[i].Name, want)
		}
	}
}
