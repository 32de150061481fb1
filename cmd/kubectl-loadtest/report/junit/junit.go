package junit

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
)

// Report is the report of a LoadTest, with a suite for each of the LoadTests of its loads that are given. It
// ends with a line break.
func Report(lt *v1beta1.LoadTest, loads ...*v1beta1.LoadTest) ([]byte, error) {
	whole := suiteOf(lt, cases(lt))
	all := testsuites{Name: "loadtest", Time: whole.Time, Suites: []testsuite{whole}}
	for _, one := range loads {
		all.Suites = append(all.Suites, suiteOf(one, casesOfLoad(one, &lt.Status)))
	}
	for i := range all.Suites {
		all.Tests += all.Suites[i].Tests
		all.Failures += all.Suites[i].Failures
		all.Errors += all.Suites[i].Errors
	}
	var b bytes.Buffer
	b.WriteString(xml.Header)
	encoder := xml.NewEncoder(&b)
	encoder.Indent("", "  ")
	err := encoder.Encode(all)
	b.WriteByte('\n')
	return b.Bytes(), err
}

// suiteOf is the suite of a LoadTest with those cases.
func suiteOf(lt *v1beta1.LoadTest, cases []testcase) testsuite {
	s := &lt.Status
	suite := testsuite{
		Name:       lt.Namespace + "/" + lt.Name,
		Time:       seconds(took(s)),
		Properties: properties(lt),
		Cases:      cases,
		Out:        report.Text(lt),
	}
	if s.StartTime != nil {
		suite.Timestamp = s.StartTime.UTC().Format("2006-01-02T15:04:05")
	}
	suite.count()
	return suite
}

func (s *testsuite) count() {
	s.Tests = len(s.Cases)
	for _, c := range s.Cases {
		switch {
		case c.Failure != nil:
			s.Failures++
		case c.Error != nil:
			s.Errors++
		case c.Skipped != nil:
			s.Skipped++
		}
	}
}

func took(s *v1beta1.LoadTestStatus) time.Duration {
	if s.StartTime == nil || s.CompletionTime == nil {
		return 0
	}
	return s.CompletionTime.Sub(s.StartTime.Time)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

// properties are what was run, and the figures of each step.
func properties(lt *v1beta1.LoadTest) []property {
	var list []property
	for _, f := range report.Facts(lt) {
		list = append(list, property{f.Name, f.Text})
	}
	for _, r := range report.Rungs(&lt.Status) {
		cells := r.Cells()
		for i := 1; i < len(cells); i++ {
			list = append(list, property{cells[0] + ", " + report.RungHeads[i], cells[i]})
		}
	}
	return list
}
