package soak

import (
	"math/rand/v2"
	"slices"
	"time"
)

// What is the kind of an action.
type What string

// What users do.
const (
	Create          What = "create"
	Suspend         What = "suspend"
	Resume          What = "resume"
	Terminate       What = "terminate"
	Delete          What = "delete"
	Annotate        What = "annotate"
	Recreate        What = "re-create"
	DeleteJob       What = "delete Job"
	DeletePod       What = "delete pod"
	DeleteConfigMap What = "delete ConfigMap"
)

// Faults that leave the process of the operator that leads as it is.
const (
	KillWorker  What = "worker killed"
	CutWorkers  What = "workers' node cut off for 10s"
	KillStandby What = "standby killed"
	ResetAPI    What = "leader reset from API for 2s"
)

// Faults after which another process may lead.
const (
	KillLeader  What = "leader killed"
	StopLeader  What = "leader terminated"
	DeleteLease What = "lease deleted"
	StopAPI     What = "API server stopped for 5s"
	CutLeader   What = "leader's node cut off for 10s"
)

var (
	keeping   = []What{KillWorker, CutWorkers, KillStandby, ResetAPI}
	replacing = []What{KillLeader, StopLeader, DeleteLease, StopAPI, CutLeader}
	// changes are what is done to LoadTests that exist, each as often as it should be.
	changes = []What{
		Suspend, Suspend, Resume, Resume, Resume, Terminate, Delete, Delete, Annotate,
		Recreate, Recreate, DeleteJob, DeletePod, DeleteConfigMap,
	}
)

const (
	// runsPerHour is how many LoadTests are created: 200 in a quarter of an hour.
	runsPerHour = 800
	// changeEvery is the mean time between two changes. A run takes some 10 s, so that
	// about every second one is changed.
	changeEvery = 4 * time.Second
	// faultEvery is the time between two faults: more than the 20 s in which another
	// replica leads and the API server answers again.
	faultEvery = 25 * time.Second
	// longest is how many seconds a load may take.
	longest = 10
)

// Action is one thing that is done at its time.
type Action struct {
	At   time.Duration // since the begin of the lap
	What What
	// Pick says to which of the LoadTests that there are, modulo their number.
	Pick int
	// Load is what a new LoadTest sends, and Seconds for how long.
	Load    string
	Seconds int
}

// IsFault says whether it is no action of a user.
func (a Action) IsFault() bool {
	return slices.Contains(keeping, a.What) || slices.Contains(replacing, a.What)
}

// Plan is what is done in the two laps of a soak. The same seed and length give the same
// plan. The first lap takes a third.
func Plan(seed uint64, length time.Duration) (first, second []Action) {
	random := rand.New(rand.NewPCG(seed, 0))
	return lap(random, length/3, slices.Concat(replacing, keeping)), lap(random, length-length/3, keeping)
}

func lap(random *rand.Rand, length time.Duration, faults []What) []Action {
	var all []Action
	add := func(at time.Duration, what What) {
		names := Loads()
		all = append(all, Action{
			At: at, What: what, Pick: int(random.Int32()),
			Load: names[random.IntN(len(names))], Seconds: 2 + random.IntN(longest-1),
		})
	}
	between := time.Hour / runsPerHour
	for at := time.Duration(0); at < length; at += between {
		add(at, Create)
	}
	for at := changeEvery; at < length; at += time.Duration(random.ExpFloat64() * float64(changeEvery)) {
		add(at, changes[random.IntN(len(changes))])
	}
	// In an order of their own, each before any comes again.
	order := random.Perm(len(faults))
	for n, at := 0, faultEvery/2; at < length; n, at = n+1, at+faultEvery {
		add(at, faults[order[n%len(order)]])
	}
	slices.SortStableFunc(all, func(a, b Action) int { return int(a.At - b.At) })
	return all
}
