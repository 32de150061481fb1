package incluster

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/must"
)

func TestEachManifestIsOfObjectsWithTheLoad(t *testing.T) {
	kinds := map[string]string{
		Ours: "LoadTest", K6Operator: "ConfigMap TestRun", Locust: "ConfigMap Service Job Job", truth: "Pod Service",
	}
	for name, want := range kinds {
		for _, test := range Tests(30) {
			text, err := Manifest(name, test)
			must.Succeed(t, err)
			var got []string
			for document := range strings.SplitSeq(text, "\n---\n") {
				var object struct{ Kind string }
				if err := yaml.Unmarshal([]byte(document), &object); err != nil {
					t.Errorf("%s of %s: %v\n%s", test.Name, name, err, document)
				}
				got = append(got, object.Kind)
			}
			if joined := strings.Join(got, " "); joined != want {
				t.Errorf("%s of %s has objects %s, want %s", test.Name, name, joined, want)
			}
			if mix := strings.Contains(text, "/urls"); mix != test.Mix() && name != truth {
				t.Errorf("%s of %s creates links: %t", test.Name, name, mix)
			}
		}
	}
}

func TestOursIsALoadTestOfTheSchedule(t *testing.T) {
	for _, test := range Tests(30) {
		text, err := Manifest(Ours, test)
		must.Succeed(t, err)
		lt := &v1beta1.LoadTest{}
		must.Succeed(t, yaml.UnmarshalStrict([]byte(text), lt))
		step := lt.Spec.Steps[0]
		rate, err := strconv.ParseInt(step.Rate.String(), 10, 64)
		must.Succeed(t, err)
		due := rate * int64(step.Duration.Duration/time.Second)
		if due != test.Due() || *lt.Spec.Parallelism != Workers || lt.Spec.Target.Service.Name != test.Target {
			t.Errorf("%s: %d requests of %d workers at %s", test.Name, due, *lt.Spec.Parallelism, lt.Spec.Target.Service.Name)
		}
	}
}

// A stall, and what follows it, is within even the shortest test.
func TestWhatHappensIsWithinTheTest(t *testing.T) {
	for _, seconds := range []int{10, 30} {
		for _, test := range Tests(seconds) {
			if end := time.Duration(seconds) * time.Second; test.StallAt+test.StallFor > end*2/3 || test.KillAt > end/2 {
				t.Errorf("%+v: too late within %v", test, end)
			}
		}
	}
}
