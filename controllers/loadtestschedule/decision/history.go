package decision

import (
	"cmp"
	"slices"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
)

// keptFor is how long a LoadTest is there at least after it was created, whatever the
// limits: its name keeps a pass of an earlier leader, which takes 35 s at most, from
// starting it again.
const keptFor = time.Minute

// expire finds the LoadTests beyond the limits. One whose verdict the status does not have
// yet, as it was read, is kept until it does.
func (d *decision) expire() {
	kept := map[v1beta1.Verdict]int{}
	limits := map[bool]int{true: limit(d.Spec.SuccessfulRunsHistoryLimit, 3), false: limit(d.Spec.FailedRunsHistoryLimit, 1)}
	needed := d.baselines()
	for _, r := range newestFirst(finished(d.seen.Runs)) {
		passed := r.Verdict == v1beta1.VerdictPassed
		class := v1beta1.VerdictFailed
		if passed {
			class = v1beta1.VerdictPassed
		}
		kept[class]++
		if kept[class] <= limits[passed] || r.Deleting || slices.Contains(needed, r.Name) || !d.isRecorded(r) {
			continue
		}
		until := r.Created.Add(keptFor)
		if r.Kept.After(until) {
			until = r.Kept
		}
		if d.now.Before(until) {
			d.wake(until)
			continue
		}
		d.out.Expired = append(d.out.Expired, r)
	}
}

func limit(of *int32, absent int) int {
	if of == nil {
		return absent
	}
	return int(*of)
}

// isRecorded says whether the status that was read has what it needs of a LoadTest.
func (d *decision) isRecorded(r LoadTest) bool {
	return d.Status.LastFinished != nil && !isSince(&d.Status, &r)
}

// baselines are the LoadTests with which others are or will be compared: the last that
// passed, and for each that has not finished the last that had passed when it was created.
func (d *decision) baselines() []string {
	passed := newestFirst(slices.DeleteFunc(finished(d.seen.Runs), func(r LoadTest) bool { return r.Verdict != v1beta1.VerdictPassed }))
	var names []string
	if len(passed) > 0 && NeedsBaseline(&d.Spec.Template.Spec) {
		names = append(names, passed[0].Name)
	}
	for _, a := range d.active() {
		if i := slices.IndexFunc(passed, func(p LoadTest) bool { return !p.Completed.After(a.Created) }); i >= 0 {
			names = append(names, passed[i].Name)
		}
	}
	return names
}

func finished(runs []LoadTest) []LoadTest {
	return slices.DeleteFunc(slices.Clone(runs), func(r LoadTest) bool { return !r.Finished })
}

// newestFirst orders LoadTests that have finished.
func newestFirst(runs []LoadTest) []LoadTest {
	slices.SortFunc(runs, func(a, b LoadTest) int {
		return cmp.Or(b.Completed.Compare(a.Completed), -byCreation(a, b))
	})
	return runs
}

func byCreation(a, b LoadTest) int {
	return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Name, b.Name))
}
