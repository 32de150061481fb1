package junit

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"time"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
)

// Report is the report of a LoadTest. It ends with a line break.
func Report(lt *v1beta1.LoadTest) ([]byte, error) {
	s := &lt.Status
	suite := testsuite{
		Name:       lt.Namespace + "/" + lt.Name,
		Time:       seconds(took(s)),
		Properties: properties(lt),
		Cases:      cases(lt),
		Out:        report.Text(lt),
	}
	if s.StartTime != nil {
		suite.Timestamp = s.StartTime.UTC().Format("2006-01-02T15:04:05")
	}
	suite.count()
	var b bytes.Buffer
	b.WriteString(xml.Header)
	encoder := xml.NewEncoder(&b)
	encoder.Indent("", "  ")
	err := encoder.Encode(testsuites{
		Name: "loadtest", Tests: suite.Tests, Failures: suite.Failures, Errors: suite.Errors, Time: suite.Time,
		Suites: []testsuite{suite},
	})
	b.WriteByte('\n')
	return b.Bytes(), err
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
