package junit

import (
	"fmt"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
)

// judge makes the test cases of one LoadTest.
type judge struct {
	class  string
	passed bool // of a run, or of a load of which nothing counts
}

func cases(lt *v1beta1.LoadTest) []testcase {
	s := &lt.Status
	j := judge{class: lt.Namespace + "." + lt.Name, passed: s.Verdict == v1beta1.VerdictPassed}
	list := []testcase{j.verdict(s)}
	for i := range s.Loads {
		list = append(list, j.load(&s.Loads[i]))
	}
	return append(list, j.parts(s)...)
}

// casesOfLoad are the cases of one load of a run, whose verdict is a case of the run. None fails if the run ended
// the load, which then lacks something by plan, or because of another load.
func casesOfLoad(lt *v1beta1.LoadTest, run *v1beta1.LoadTestStatus) []testcase {
	passed := run.Verdict == v1beta1.VerdictPassed
	for i := range run.Loads {
		passed = passed || run.Loads[i].Test == lt.Name && report.EndedByRun(&run.Loads[i])
	}
	return judge{class: lt.Namespace + "." + lt.Name, passed: passed}.parts(&lt.Status)
}

// parts are the cases of steps, thresholds and audits.
func (j judge) parts(s *v1beta1.LoadTestStatus) (list []testcase) {
	for i := range s.Steps {
		if !s.Steps[i].Load.IsPause() {
			list = append(list, j.step(&s.Steps[i]))
		}
	}
	messages := report.ThresholdMessages(s)
	for i := range s.Thresholds {
		t := &s.Thresholds[i]
		list = append(list, j.judged("threshold "+report.ThresholdName(t), string(t.State), messages[i]))
	}
	for i := range s.Audits {
		list = append(list, j.stored(&s.Audits[i]))
	}
	for i := range s.Steps {
		if r := s.Steps[i].Result; r != nil && r.RateLimit != nil {
			list = append(list, j.rateLimit(s.Steps[i].Name, r.RateLimit))
		}
	}
	return list
}

func (j judge) verdict(s *v1beta1.LoadTestStatus) testcase {
	c, sentence := testcase{Class: j.class, Name: "verdict", Time: seconds(took(s))}, report.Judgement(s)
	switch s.Verdict {
	case v1beta1.VerdictPassed:
	case v1beta1.VerdictFailed:
		c.Failure = because(string(s.Verdict), sentence)
	case "":
		c.Error = because("NotFinished", "The run has not finished: "+report.Phase(s)+".")
	default:
		c.Error = because(string(s.Verdict), sentence)
	}
	return c
}

// load is how a load of several was judged.
func (j judge) load(l *v1beta1.LoadStatus) testcase {
	c := testcase{Class: j.class, Name: "load " + l.Name, Time: "0.000"}
	if l.BeginTime != nil && l.CompletionTime != nil {
		c.Time = seconds(max(l.CompletionTime.Sub(l.BeginTime.Time), 0))
	}
	switch {
	case l.Verdict == v1beta1.VerdictPassed:
	case l.Verdict == v1beta1.VerdictFailed:
		j.wrong(&c, string(l.Verdict), l.Message)
	case l.Verdict == "":
		c.Error = because("NotFinished", fmt.Sprintf("The load is %s.", l.Phase))
	case l.Ended:
		c.Skipped = because("", "The run ended the load: "+l.Message)
	default:
		c.Error = because(string(l.Verdict), l.Message)
	}
	return c
}

// step is whether a step was carried out as it was planned.
func (j judge) step(step *v1beta1.StepStatus) testcase {
	c := testcase{Class: j.class, Name: "step " + step.Name + " is complete", Time: "0.000"}
	if step.Window != nil {
		c.Time = seconds(step.Window.Duration)
	}
	switch step.State {
	case v1beta1.StepComplete:
	case v1beta1.StepCut:
		j.wrong(&c, "StepCut", lacks(step))
	default:
		c.Skipped = because("", fmt.Sprintf("The step is %s.", step.State))
	}
	return c
}

func lacks(step *v1beta1.StepStatus) string {
	sentence := step.Message
	if sentence == "" {
		sentence = "The step was cut short."
	}
	if step.MissingAtMost != nil {
		sentence += fmt.Sprintf(" At most %d requests are missing from its result.", *step.MissingAtMost)
	}
	return sentence
}

func (j judge) stored(a *v1beta1.AuditStatus) testcase {
	return j.judged("audit "+a.Name, string(a.State), a.Message)
}

// judged is a case of what the operator has judged already.
func (j judge) judged(name, state, sentence string) testcase {
	c := testcase{Class: j.class, Name: name, Time: "0.000"}
	switch state {
	case "Passed":
	case "Failed":
		j.wrong(&c, state, sentence)
	case "Inconclusive":
		if j.wrong(&c, state, sentence); c.Failure != nil {
			c.Failure, c.Error = nil, c.Failure
		}
	default:
		if sentence == "" {
			sentence = "It was not judged."
		}
		c.Skipped = because("", sentence)
	}
	return c
}

func (j judge) rateLimit(step string, a *v1beta1.RateLimitStatus) testcase {
	c := testcase{Class: j.class, Name: "audit rateLimit in step " + step, Time: "0.000"}
	if a.OverLimitGrants > 0 || a.FalseDenials > 0 {
		j.wrong(&c, "RateLimit", fmt.Sprintf("%d over-limit grants and %d false denials among %d granted and %d denied requests of %d clients.",
			a.OverLimitGrants, a.FalseDenials, a.Granted, a.Denied, a.Clients))
	}
	return c
}

// wrong makes a case fail. Of a run that passed nothing fails: what its thresholds
// let through is skipped, with the same sentence.
func (j judge) wrong(c *testcase, kind, sentence string) {
	if j.passed {
		c.Skipped = because("", sentence)
		return
	}
	c.Failure = because(kind, sentence)
}
