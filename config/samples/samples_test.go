package samples

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/hack/seeds/experiment"
	"github.com/loadtest-dev/loadtest-operator/test/apiserver"
	"github.com/loadtest-dev/loadtest-operator/test/golden"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// codes are those that `shortener seed --rows=5000` stores: i in base 62, padded
// to six digits.
func codes() string {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	var table strings.Builder
	table.WriteString("code\n")
	for i := range 5000 {
		code := []byte("000000")
		for at, n := len(code)-1, i; n > 0; at, n = at-1, n/len(digits) {
			code[at] = digits[n%len(digits)]
		}
		fmt.Fprintf(&table, "%s\n", code)
	}
	return table.String()
}

// batch is an array of so many of the one event that the seed sent.
func batch(events int) string {
	lines := make([]string, events)
	for i := range lines {
		lines[i] = `{"type":"load","data":{"value":1}}`
	}
	return "[\n" + strings.Join(lines, ",\n") + "\n]\n"
}

// TestGenerated compares the generated files with what they should be.
// go test ./config/samples -update writes them.
func TestGenerated(t *testing.T) {
	want := map[string]string{"seeds/001/codes.csv": codes()}
	for _, events := range []int{10, 100, 500, 1000} {
		want[fmt.Sprintf("seeds/003/batch-%d.json", events)] = batch(events)
	}
	for name, text := range want {
		golden.Check(t, name, text)
	}
}

// What the generators write is what their readers expect.
func TestGenerators(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(codes()), "\n")
	got := []string{lines[0], lines[1], lines[62], lines[63], lines[5000]}
	same.As(t, "codes", []string{"code", "000000", "00000z", "000010", "0001Id"}, got)
	var events []struct{ Type string }
	if err := json.Unmarshal([]byte(batch(10)), &events); err != nil || len(events) != 10 || events[9].Type != "load" {
		t.Errorf("a batch of 10 is %v (%v)", events, err)
	}
}

var (
	created = regexp.MustCompile(`(?m)^# .*kubectl create (?:secret [a-z]+|configmap) ([a-z0-9-]+)`)
	named   = regexp.MustCompile(`(?:secretName: |(?:secret|configMap): \{name: )([a-z0-9-]+)`)
)

// The commands in the comment of a sample create the Secrets and ConfigMaps that it names.
func TestCommentsCreateWhatTheSampleNames(t *testing.T) {
	for _, file := range glob(t, "*.yaml") {
		text := string(must.ReadFile(t, file))
		names := func(of *regexp.Regexp) []string {
			set := map[string]bool{}
			for _, m := range of.FindAllStringSubmatch(text, -1) {
				set[m[1]] = true
			}
			return slices.Sorted(maps.Keys(set))
		}
		same.As(t, file+": what the comment creates", names(named), names(created))
	}
}

// TestKustomizations builds each folder that can be applied whole.
func TestKustomizations(t *testing.T) {
	files, err := filepath.Glob("seeds/*/kustomization.yaml")
	if want := len(experiment.Seeds()) + len(experiment.All()); err != nil || len(files) != want {
		t.Fatalf("kustomizations of the seeds are %v (%v), want %d", files, err, want)
	}
	for _, file := range append(files, "kustomization.yaml") {
		folder := filepath.Dir(file)
		out, err := apiserver.Kustomize(t.Context(), folder)
		if err != nil || !strings.Contains(string(out), "kind: LoadTest") {
			t.Errorf("%s: %v:\n%s", folder, err, out)
		}
	}
}
