package attack

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/loadworker/transport/http1"
)

// portable is a client whose connections no event loop can take.
type portable struct{ transport.Client }

// goroutines is the name of the test under which no runner has event loops.
const goroutines = "TestGoroutines"

func engineClient(t *testing.T, d *http1.Client) transport.Client {
	if strings.HasPrefix(t.Name(), goroutines+"/") {
		return portable{d}
	}
	return d
}

// All tests run over event loops where there are any. Here they run again over
// goroutines and vegeta's Attacker, which must mean the same.
func TestGoroutines(t *testing.T) {
	tests := map[string]func(*testing.T){
		"mix":                TestBurstSendsExactlyTheMix,
		"connections":        TestUsersHaveAConnectionEachAndKeepItFromStepToStep,
		"shares":             TestSharesOfPacedUsersAreTogetherTheSchedule,
		"never early":        TestNothingIsSentBeforeItIsDue,
		"response time":      TestResponseTimeCountsFromTheDueTime,
		"busy users":         TestWhatABusyUserCouldNotSendIsUnsent,
		"closed users":       TestClosedUsersSendUntilTheWindowCloses,
		"drain":              TestDrainIsNotPartOfTheWindow,
		"limit of a burst":   TestBurstIsCutAtItsLimit,
		"cut":                TestCutBeforeTheStartSendsNothing,
		"start in the past":  TestStartInThePast,
		"snapshots":          TestSnapshotsHoldTogetherWhileTheStepRuns,
		"outcomes":           TestOutcomes,
		"timeouts":           TestTimeoutsAreInTheResponseTimes,
		"target is gone":     TestClosedUsersPauseWhenTheTargetIsGone,
		"ledgers":            TestLedgersAgreeWithTheLimiter,
		"opened by Prepare":  TestPrepareOpensTheConnections,
		"a copy is returned": TestSnapshotIsACopy,
		"engine":             TestResultNamesTheEngine,

		"shares of arrivals":     TestSharesOfArrivalsAreTogetherTheSchedule,
		"too few connections":    TestArrivalsBeyondTheConnectionsAreUnsent,
		"an open loop":           TestArrivalsDoNotWaitForResponses,
		"arrivals' connections":  TestArrivalsReuseConnections,
		"no share":               TestArrivalsWithoutAShare,
		"no redirects":           TestArrivalsDoNotFollowRedirects,
		"ramps":                  TestRampedArrivals,
		"Poisson":                TestPoissonArrivals,
		"bodies":                 TestBodiesThatAreExpected,
		"warm-up":                TestWarmUpIsSentAndNotCounted,
		"closed users' warm-up":  TestClosedUsersCountFromTheEndOfTheWarmUp,
		"what a warm-up leaves":  TestWarmUpLeavesNothingBehind,
		"cut in the warm-up":     TestCutInTheWarmUp,
		"reuse":                  TestStepsSayWhatIsReused,
		"no reuse":               TestArrivalsOverConnectionsThatClose,
		"arrivals at nobody":     TestArrivalsOfATargetThatIsGone,
		"what is opened at once": TestArrivalsBoundWhatIsOpened,
	}
	for name, test := range tests {
		t.Run(name, test)
	}
}

// What tells the engines apart is what a waiting user costs.
func TestUsersOfLoopsAreNoGoroutines(t *testing.T) {
	const users = 200
	handle, release := hold(t)
	o := newOracle(t, handle)
	r := newTestRunner(t, setup{url: o.URL})
	step := usersStep(users, Burst{Requests: 1, Limit: time.Minute})
	r.Prepare(t.Context(), step)
	o.accepts(t, users)
	before := runtime.NumGoroutine() // with those of the server
	x := r.Start(step, time.Now())
	for deadline := time.Now().Add(patience); len(o.served()) < users && time.Now().Before(deadline); {
		<-time.After(time.Millisecond)
	}
	// The server has another goroutine for each request whose context it watches.
	if n := runtime.NumGoroutine() - before; runtime.GOOS == "linux" && n >= users+users/2 {
		t.Errorf("%d goroutines more for %d users in flight", n, users)
	}
	release()
	if q := total(t, finish(t, x)); q.Sent != users {
		t.Errorf("sent %d, want %d", q.Sent, users)
	}
}

// The result says what drove the requests.
func TestResultNamesTheEngine(t *testing.T) {
	want := "event loops"
	if _, loops := engineClient(t, nil).(*http1.Client); !loops || runtime.GOOS != "linux" {
		want = "goroutines"
	}
	for name, load := range map[string]Load{
		"users":    Burst{Requests: 1, Limit: patience},
		"arrivals": Arrivals{Rate: 100e6, Duration: 50 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOracle(t, nil)
			if got := drive(t, newTestRunner(t, setup{url: o.URL}), usersStep(2, load)); got.Engine != want {
				t.Errorf("engine %q, want %q", got.Engine, want)
			}
		})
	}
}

func TestQueueIsInOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var q queue
	var want []time.Duration
	for range 5000 {
		if len(want) > 0 && random.IntN(5) < 2 {
			if got := q.pop(); got.due != want[0] || got.user != int(got.due) {
				t.Fatalf("popped %+v, want due %d", got, want[0])
			}
			want = want[1:]
			continue
		}
		due := time.Duration(random.IntN(1000))
		q.push(entry{due: due, user: int(due)})
		i, _ := slices.BinarySearch(want, due)
		want = slices.Insert(want, i, due)
	}
	for _, due := range want {
		if got := q.pop(); got.due != due {
			t.Fatalf("popped %+v, want due %d", got, due)
		}
	}
	if len(q) != 0 {
		t.Errorf("%d left", len(q))
	}
}
