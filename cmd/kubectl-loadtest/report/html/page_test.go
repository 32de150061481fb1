package html_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/report/reporttest"
)

// The figures that are read first are of the step that kept the highest load, not of a later
// one of the same load that did not.
func TestKeysAreOfTheStepThatKeptTheHighestLoad(t *testing.T) {
	lt := reporttest.Ladder(t, 100, 200, 200)
	steps := lt.Status.Steps
	lt.Status.MaxSustainedUsers = ptr.To[int32](200)
	steps[2].Name, steps[2].ThresholdState = "200 (2)", v1beta1.ThresholdFailed
	steps[2].Load.Duration = &metav1.Duration{Duration: time.Minute}
	keys := regexp.MustCompile(`<dl class="keys">.*?</dl>`).FindString(page(t, lt))
	if !strings.Contains(keys, "every threshold, for 10s") || !strings.Contains(keys, "in step 200<") {
		t.Errorf("the keys are not of the step that was kept: %s", keys)
	}
}
