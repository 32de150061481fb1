package report_test

import (
	"testing"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// All sessions are in the table of the journeys: those of single requests have a row of their own.
func TestTheTableOfJourneysHasAllSessions(t *testing.T) {
	r := &v1beta1.StepResult{
		Sessions: &v1beta1.SessionsResult{Due: 30, Started: 25},
		Journeys: []v1beta1.JourneyResult{{Name: "buy", Due: 20, Started: 16, Completed: 10, Failed: 1, Unfinished: 5, LeftOut: []v1beta1.JourneyLeftOut{{Step: 4, Request: "lounge", Times: 6}, {Step: 5, Times: 1}}}},
	}
	buy := []string{"buy", "20", "16", "10", "1", "5", "", "6 of step 4, lounge; 1 of step 5", "–", "–", "–", "–"}
	same.As(t, "rows", [][]string{buy, {"(single requests)", "10", "9", "", "", "", "", "", "", "", "", ""}}, report.Journeys(r))
	r.Sessions = &v1beta1.SessionsResult{Due: 20, Started: 16}
	same.As(t, "rows without single requests", [][]string{buy}, report.Journeys(r))
	// Users start each journey that is due.
	r.Sessions, r.Journeys[0].Due = nil, 0
	buy[1] = "16"
	same.As(t, "rows of users", [][]string{buy}, report.Journeys(r))
}
