package expect

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/controllers/judge/statistics"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/record"
)

// LeastHealthy is of how many repetitions in which the machine was not the limit a rung
// decides anything: three of each side are the fewest that the comparison takes.
const LeastHealthy = 3

// side is a rung of an experiment, and what a sentence calls it.
type side struct {
	label, experiment, test string
	// rung is from 1, or last.
	rung int
}

// last stands for the last rung of a load test.
const last = -1

// evidence is what a judgement rests on.
type evidence struct {
	record.Results
	// limited are the rungs among it in which the machine was the limit, or which are missing.
	limited []string
}

// rung has all repetitions.
func (e *evidence) rung(s side) record.Rung {
	rungs := record.Rungs(e.Results[s.experiment].LoadTest(s.test))
	switch {
	case s.rung == last && len(rungs) > 0:
		return rungs[len(rungs)-1]
	case s.rung < 1 || s.rung > len(rungs):
		return record.Rung{}
	}
	return rungs[s.rung-1]
}

// rest is a rung with the repetitions that can decide something. If there are too few, the
// judgement is that the machine was the limit.
func (e *evidence) rest(s side) record.Rung {
	rung := e.rung(s)
	switch {
	case len(rung.Repetitions) == 0:
		e.limited = append(e.limited, fmt.Sprintf("%s %s has no rung %d", s.experiment, s.test, s.rung))
	case IsLimited(rung):
		e.limited = append(e.limited, fmt.Sprintf("%s %s step %s, %s", s.experiment, s.test, rung.Name, rung.Limits()))
	}
	return rung.Healthy()
}

// IsLimited says whether the machine was the limit in too many repetitions of a rung for it
// to decide anything.
func IsLimited(rung record.Rung) bool {
	n := len(rung.Repetitions)
	return n == 0 || len(rung.Healthy().Repetitions) < min(n, LeastHealthy)
}

// says is a figure of sides in a sentence, over all repetitions.
func (e *evidence) says(figure string, sides ...side) string {
	var list []string
	for _, s := range sides {
		list = append(list, s.label+" "+e.rung(s).Text(record.Figures[figure]))
	}
	return strings.Join(list, ", ") + "."
}

// change is the factor from one side to another; false if repetitions do not tell it.
func (e *evidence) change(figure string, from, to side) (statistics.Change, bool) {
	return Change(e.rest(from), e.rest(to), record.Figures[figure])
}

// Change is by what factor a figure changed from one rung to another; false if there are
// too few repetitions of either to tell it from noise.
func Change(from, to record.Rung, f record.Figure) (statistics.Change, bool) {
	before, ok := from.Values(f)
	after, both := to.Values(f)
	if !ok || !both {
		return statistics.Change{}, false
	}
	c, ok := statistics.Of(rats(before), rats(after))
	return c, ok && c.Tested
}

func rats(values []float64) (list []*big.Rat) {
	for _, v := range values {
		list = append(list, new(big.Rat).SetFloat64(v))
	}
	return list
}

// more says whether a figure of one side is more than that of another by more than a
// factor.
func (e *evidence) more(figure string, than, is side, factor *big.Rat) statistics.Answer {
	c, ok := e.change(figure, than, is)
	if !ok {
		return statistics.Unsure
	}
	return not(c.AtMost(factor))
}

// alike says whether a figure of both sides is the same within a factor.
func (e *evidence) alike(figure string, one, two side, factor *big.Rat) statistics.Answer {
	c, ok := e.change(figure, one, two)
	if !ok {
		return statistics.Unsure
	}
	return both(c.AtMost(factor), c.AtLeast(new(big.Rat).Inv(factor)))
}

func not(a statistics.Answer) statistics.Answer {
	return map[statistics.Answer]statistics.Answer{statistics.Yes: statistics.No, statistics.No: statistics.Yes}[a]
}

// both are Yes if each is, and No if any is.
func both(answers ...statistics.Answer) statistics.Answer {
	all := statistics.Yes
	for _, a := range answers {
		if a == statistics.No {
			return a
		}
		if a == statistics.Unsure {
			all = a
		}
	}
	return all
}

// yes is a certain answer.
func yes(holds bool) statistics.Answer {
	return map[bool]statistics.Answer{true: statistics.Yes, false: statistics.No}[holds]
}

// each says whether a figure is within bounds in every repetition of rungs.
func (e *evidence) each(figure string, least, most float64, sides ...side) statistics.Answer {
	answer := statistics.Yes
	for _, s := range sides {
		list, ok := e.rest(s).Values(record.Figures[figure])
		if !ok {
			answer = both(answer, statistics.Unsure)
		}
		for _, v := range list {
			answer = both(answer, yes(v >= least && v <= most))
		}
	}
	return answer
}

// sum adds a count up over all repetitions of all rungs of load tests, whatever the machine
// did: counts of grants are exact however late a request was sent.
func (e *evidence) sum(figure, experiment string, tests ...string) float64 {
	sum := 0.0
	for _, test := range tests {
		for _, rung := range record.Rungs(e.Results[experiment].LoadTest(test)) {
			list, _ := rung.Values(record.Figures[figure])
			for _, v := range list {
				sum += v
			}
		}
	}
	return sum
}

var (
	one = big.NewRat(1, 1)
	// nearly is the factor within which two rates count as the same: 20 %, which is less
	// than any difference that was published as one.
	nearly = big.NewRat(6, 5)
)
