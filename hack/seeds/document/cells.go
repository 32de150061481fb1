package document

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/controllers/judge/statistics"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/expect"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/record"
)

// cell is an own figure, or the reason why there is none. Both empty: neither is there.
type cell struct {
	text, reason string
	// limited says that the machine was the limit in some repetition behind it.
	limited bool
}

// tooFew is the reason of what a result could have and does not.
const tooFew = "There are too few samples for it in a repetition, or none at all."

// cell looks a figure up. What names something that does not exist is an error of the file.
func (d *document) cell(p place) (cell, error) {
	if p.Missing != "" {
		return cell{reason: p.Missing}, nil
	}
	if p.Figure == "" && p.As == "" {
		return cell{}, nil
	}
	if p.As != "" {
		conclude := conclusions[p.As]
		if conclude == nil {
			return cell{}, fmt.Errorf("there is no conclusion %q", p.As)
		}
		return conclude(d, p)
	}
	if of := texts[p.Figure]; of != nil {
		lt := d.all[p.Experiment].LoadTest(p.Test)
		if lt == nil {
			return cell{}, fmt.Errorf("%s has no load test %q", p.Experiment, p.Test)
		}
		return cell{text: of(lt)}, nil
	}
	rung, figure, err := d.rung(p, p.Figure)
	if err != nil {
		return cell{}, err
	}
	text := rung.Text(figure)
	if text == record.Unknown {
		return cell{reason: tooFew}, nil
	}
	return cell{text: text, limited: limited(rung, figure)}, nil
}

// limited says whether the machine was the limit of a figure in any repetition.
func limited(rung record.Rung, figure record.Figure) bool {
	return !figure.Exact && rung.Limits() != healthy
}

const healthy = "healthy"

// rung is that of a place, and a figure by its name.
func (d *document) rung(p place, name string) (record.Rung, record.Figure, error) {
	figure, ok := record.Figures[name]
	if !ok {
		return record.Rung{}, figure, fmt.Errorf("there is no figure %q", name)
	}
	lt := d.all[p.Experiment].LoadTest(p.Test)
	if lt == nil {
		return record.Rung{}, figure, fmt.Errorf("%q has no load test %q", p.Experiment, p.Test)
	}
	if p.Whole {
		return record.Whole(lt), figure, nil
	}
	rungs := record.Rungs(lt)
	if p.Rung < 1 || p.Rung > len(rungs) {
		return record.Rung{}, figure, fmt.Errorf("rung %d of %s %s does not exist: it has %d", p.Rung, p.Experiment, p.Test, len(rungs))
	}
	return rungs[p.Rung-1], figure, nil
}

// texts are figures of a load test that are no numbers.
var texts = map[string]func(*v1beta1.LoadTest) string{
	"verdict": func(lt *v1beta1.LoadTest) string { return string(lt.Status.Verdict) },
	"audited": func(lt *v1beta1.LoadTest) string {
		return audits(lt, func(a *v1beta1.AuditStatus) string { return "audit " + string(a.State) })
	},
	"before": func(lt *v1beta1.LoadTest) string {
		return audits(lt, func(a *v1beta1.AuditStatus) string { return count(a.Before) })
	},
	"after": func(lt *v1beta1.LoadTest) string {
		return audits(lt, func(a *v1beta1.AuditStatus) string { return count(a.After) })
	},
	"stored": func(lt *v1beta1.LoadTest) string {
		return audits(lt, func(a *v1beta1.AuditStatus) string { return count(a.Change) })
	},
	"race": func(lt *v1beta1.LoadTest) string {
		list, _ := record.Whole(lt).Values(record.Figures["overLimit"])
		raced := len(slices.DeleteFunc(slices.Clone(list), func(v float64) bool { return v == 0 }))
		return fmt.Sprintf("in %d of %d", raced, len(list))
	},
}

func audits(lt *v1beta1.LoadTest, of func(*v1beta1.AuditStatus) string) string {
	var list []string
	for i := range lt.Status.Audits {
		list = append(list, of(&lt.Status.Audits[i]))
	}
	if len(list) == 0 {
		return "not audited"
	}
	return strings.Join(list, ", ")
}

func count(n *int64) string {
	if n == nil {
		return "not read"
	}
	return fmt.Sprint(*n)
}

// conclusions are what is said of a figure besides its value.
var conclusions = map[string]func(*document, place) (cell, error){"best": best, "change": change, "kept": kept}

// kept says in how many repetitions a published target was kept.
func kept(d *document, p place) (cell, error) {
	rung, figure, err := d.rung(p, p.judged())
	if err != nil || p.AtLeast == nil && p.AtMost == nil {
		return cell{}, fmt.Errorf("%w: a target needs atLeast or atMost", err)
	}
	list, ok := rung.Values(figure)
	if !ok {
		return cell{reason: tooFew}, nil
	}
	n := 0
	for _, v := range list {
		if (p.AtLeast == nil || v >= *p.AtLeast) && (p.AtMost == nil || v <= *p.AtMost) {
			n++
		}
	}
	text := fmt.Sprintf("kept in %d of %d: ", n, len(list))
	if p.AtLeast != nil {
		text += "at least " + figure.Text(*p.AtLeast)
	} else {
		text += "at most " + figure.Text(*p.AtMost)
	}
	return cell{text: text, limited: limited(rung, figure)}, nil
}

func (p place) judged() string {
	if p.Judged != "" {
		return p.Judged
	}
	return p.Figure
}

const undecided = "not decided: the machine was the limit"

// sides are the rungs that a conclusion compares, those repetitions alone in which the
// machine was not the limit. If one has too few, or not the figure, the cell says so.
func (d *document) sides(p place) (list []record.Rung, figure record.Figure, instead cell, err error) {
	if len(p.Sides) < 2 {
		return nil, figure, instead, fmt.Errorf("%s of %q needs sides", p.As, p.judged())
	}
	for _, name := range p.Sides {
		p.Experiment = name
		var rung record.Rung
		if rung, figure, err = d.rung(p, p.judged()); err != nil {
			return nil, figure, instead, err
		}
		if _, ok := rung.Values(figure); !ok {
			instead.reason = tooFew
		}
		if !figure.Exact {
			if expect.IsLimited(rung) {
				instead.text, instead.limited = undecided, true
			}
			rung = rung.Healthy()
		}
		list = append(list, rung)
	}
	return list, figure, instead, nil
}

// change says by what share a figure changed from the first side to the last.
func change(d *document, p place) (cell, error) {
	list, figure, instead, err := d.sides(p)
	if err != nil || instead != (cell{}) {
		return instead, err
	}
	c, ok := expect.Change(list[0], list[len(list)-1], figure)
	if !ok || c.Factor == nil || c.Low == nil || c.High == nil {
		return cell{text: "not told by the repetitions"}, nil
	}
	between := fmt.Sprintf("(%s to %s)", signed(c.Low), signed(c.High))
	if c.Low.Cmp(one) <= 0 && c.High.Cmp(one) >= 0 {
		return cell{text: "no certain difference " + between}, nil
	}
	return cell{text: signed(c.Factor) + " " + between}, nil
}

var one = big.NewRat(1, 1)

func signed(factor *big.Rat) string {
	text := statistics.Percent(factor).FloatString(0) + "%"
	switch {
	case text == "0%" || text == "-0%":
		return "0%"
	case strings.HasPrefix(text, "-"):
		return strings.Replace(text, "-", "−", 1)
	}
	return "+" + text
}

// best names the sides than which no other is certainly better.
func best(d *document, p place) (cell, error) {
	list, figure, instead, err := d.sides(p)
	if err != nil || instead != (cell{}) {
		return instead, err
	}
	var names []string
	for i, side := range list {
		beaten := slices.ContainsFunc(list, func(other record.Rung) bool { return better(side, other, figure) })
		if !beaten {
			names = append(names, d.published.Labels[p.Sides[i]])
		}
	}
	if len(names) == len(list) {
		return cell{text: "no certain difference"}, nil
	}
	return cell{text: strings.Join(names, " / ")}, nil
}

// better says whether another side is certainly better.
func better(side, other record.Rung, figure record.Figure) bool {
	if figure.LessIsBetter {
		side, other = other, side
	}
	c, ok := expect.Change(side, other, figure)
	return ok && c.AtMost(one) == statistics.No
}
