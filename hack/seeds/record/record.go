package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/hack/seeds/manifest"
)

// Record is the result of an experiment.
type Record struct {
	About
	// LoadTests are those that ran, with their status.
	LoadTests []v1beta1.LoadTest
	// Results are their ConfigMaps, as YAML: what is too large for a status.
	Results [][]byte
}

// About says of what a record is the result.
type About struct {
	Experiment string `json:"experiment"`
	// Hash is that of what was run.
	Hash string `json:"hash"`
	// Factor is how much smaller than published it was.
	Factor manifest.Factor `json:"factor"`
	// Command is what ran it.
	Command string `json:"command"`
	// Date is when it ended.
	Date        metav1.Time `json:"date"`
	Environment Environment `json:"environment"`
	// Took is the time from the installation of the target to its removal.
	Took metav1.Duration `json:"took"`
}

// kind is the header of a file.
const kind = "Experiment"

// header is the first document of a file.
type header struct {
	Kind  string `json:"kind"`
	About About  `json:"about"`
}

// Marshal writes a record as documents: a header, the load tests, their ConfigMaps.
func (r *Record) Marshal() ([]byte, error) {
	objects := []any{header{kind, r.About}}
	for i := range r.LoadTests {
		objects = append(objects, &r.LoadTests[i])
	}
	documents := make([][]byte, 0, len(objects)+len(r.Results))
	for _, o := range objects {
		text, err := yaml.Marshal(o)
		if err != nil {
			return nil, err
		}
		documents = append(documents, text)
	}
	return manifest.Text(append(documents, r.Results...)...), nil
}

// Unmarshal reads what Marshal wrote.
func Unmarshal(text []byte) (*Record, error) {
	m, err := manifest.Parse(text)
	if err != nil {
		return nil, err
	}
	r := &Record{LoadTests: m.LoadTests}
	for _, document := range m.Others {
		var h header
		if err := yaml.Unmarshal(document, &h); err != nil {
			return nil, err
		}
		if h.Kind == kind {
			r.About = h.About
		} else {
			r.Results = append(r.Results, document)
		}
	}
	if r.Experiment == "" {
		return nil, fmt.Errorf("there is no document of kind %s", kind)
	}
	return r, nil
}

// Hash is that of what an experiment is made of: texts in order, and the factor.
func Hash(f manifest.Factor, parts ...[]byte) string {
	sum := sha256.New()
	scale, _ := json.Marshal(f) // numbers always can be
	for _, part := range append(parts, scale) {
		_, _ = fmt.Fprintf(sum, "%d\n", len(part)) // a hash takes everything
		_, _ = sum.Write(bytes.TrimSpace(part))
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Ended says whether each of the load tests went to its end, whatever its verdict.
func (r *Record) Ended() error {
	for i := range r.LoadTests {
		lt := &r.LoadTests[i]
		switch v := lt.Status.Verdict; v {
		case "", v1beta1.VerdictError, v1beta1.VerdictCanceled:
			return fmt.Errorf("%s did not go to its end: it is %s with the verdict %q", lt.Name, lt.Status.Phase, v)
		}
	}
	return nil
}

// LoadTest is the one of a name, nil if it did not run.
func (r *Record) LoadTest(name string) *v1beta1.LoadTest {
	if r == nil {
		return nil
	}
	for i := range r.LoadTests {
		if r.LoadTests[i].Name == name {
			return &r.LoadTests[i]
		}
	}
	return nil
}

// Complete says whether each of the tests ran, and has measured each step in each of its
// repetitions.
func (r *Record) Complete(tests []string) error {
	for _, name := range tests {
		lt := r.LoadTest(name)
		if lt == nil {
			return fmt.Errorf("%s did not run", name)
		}
		rungs := Rungs(lt)
		if len(rungs) == 0 {
			return fmt.Errorf("%s has no steps", name)
		}
		planned := max(1, int(lt.Spec.Repetitions))
		for _, rung := range rungs {
			if n := len(rung.Repetitions); n != planned {
				return fmt.Errorf("%s has %d of %d repetitions of step %s", name, n, planned, rung.Name)
			}
			for _, step := range rung.Repetitions {
				if step.Result == nil {
					return fmt.Errorf("%s has no result of step %s", name, step.Name)
				}
			}
		}
	}
	return nil
}

// Verified says whether the target was the one that was meant.
func Verified(lt *v1beta1.LoadTest) bool {
	return meta.IsStatusConditionTrue(lt.Status.Conditions, v1beta1.ConditionTargetVerified)
}

// Now is the time of a record: whole seconds, in UTC.
func Now(now time.Time) metav1.Time { return metav1.NewTime(now.UTC().Truncate(time.Second)) }
