package lifecycle

import (
	"errors"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/policy"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// MaxDefaults is for how many default thresholds there is room.
const MaxDefaults = maxDefaults

// Room is how many bytes a LoadTest has left for its results.
var Room = room

// DecideUnwritten is Decide. It fails if the pass writes to one of its inputs.
func DecideUnwritten(lt *v1beta1.LoadTest, rules policy.Rules, seen Observed, now time.Time) (Decision, error) {
	r := newPass(lt, rules, seen, now)
	before := same.Digest(&r.inputs)
	d := r.decide()
	if same.Digest(&r.inputs) != before {
		return d, errors.New("the pass has written to its inputs")
	}
	return d, nil
}
