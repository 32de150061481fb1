package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/cmd/kubectl-loadtest/admission"
	"github.com/loadtest-dev/loadtest-operator/hack/bench/peer"
	"github.com/loadtest-dev/loadtest-operator/hack/bench/process"
	"github.com/loadtest-dev/loadtest-operator/test/groundtruth"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// The manifest is valid as it stands, as `kubectl loadtest validate` says, and becomes one
// assignment with the shop's address.
func TestTheLoadTestOfTheShopIsValid(t *testing.T) {
	text := must.ReadFile(t, "shop/shop.yaml")
	manifest := &unstructured.Unstructured{}
	inJSON, err := yaml.YAMLToJSONStrict(text)
	must.Succeed(t, err)
	must.Succeed(t, manifest.UnmarshalJSON(inJSON))
	manifest.SetNamespace("shop") // kubectl sets one
	api, err := admission.OfLoadTests()
	must.Succeed(t, err)
	if _, problems := api.Review(t.Context(), manifest, nil); len(problems) > 0 {
		t.Errorf("the manifest has problems: %v", problems)
	}
	lt, err := readShop("shop/shop.yaml")
	must.Succeed(t, err)
	a, err := assignment(atShop(lt, "http://127.0.0.1:7", 5*time.Second), 0)
	must.Succeed(t, err)
	same.As(t, "URL", "http://127.0.0.1:7", a.GetTarget().GetUrl())
	same.As(t, "users", int64(shopUsers), a.GetSteps()[0].GetTotal())
	same.As(t, "duration", int64(5*time.Second), a.GetSteps()[0].GetClosedUsers().GetDurationNanos())
	same.As(t, "steps of the journey", 6, len(a.GetJourneys()[0].GetSteps()))
	if strings.HasSuffix(lt.Spec.Target.URL, ":7") {
		t.Error("the LoadTest that was read has changed")
	}
}

func TestPurchasesAreComparedWithWhatTheShopCounted(t *testing.T) {
	counted := func(change func(*groundtruth.Counters)) groundtruth.Counters {
		c := groundtruth.Counters{Routes: map[string]int64{}}
		for kind, each := range purchase {
			c.Routes[kind] = 10 * each
		}
		c.Requests, c.Answered = 10*perPurchase(), 10*perPurchase()
		if change != nil {
			change(&c)
		}
		return c
	}
	same.As(t, "requests of a purchase", int64(9), perPurchase())
	add := func(kind string, n int64) func(*groundtruth.Counters) {
		return func(c *groundtruth.Counters) {
			c.Routes[kind] += n
			c.Requests += n
			c.Answered += n
		}
	}
	tests := map[string]struct {
		change func(*groundtruth.Counters)
		want   string
	}{
		"whole ones":              {nil, ""},
		"one under way each":      {add("GET /orders/{id}", 4), ""},
		"a look too many":         {add("GET /orders/{id}", 5), "10 purchases of 2 users have 25 times GET /orders/{id}, want 2 each"},
		"no home page":            {add("GET /{$}", -1), "10 purchases of 2 users have 9 times GET /{$}, want 1 each"},
		"another page":            {add("GET /offers", 1), "1 of 91 requests are no part of a purchase: the shop counted "},
		"refused":                 {func(c *groundtruth.Counters) { c.Answered-- }, "the shop refused 1 of 90 requests"},
		"nothing was ever bought": {func(c *groundtruth.Counters) { c.Routes[paidOrder] = 0 }, "no order was paid"},
		"nothing was sent":        {func(c *groundtruth.Counters) { *c = groundtruth.Counters{} }, "no order was paid"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := samePurchases(counted(tt.change), 2)
			if (err == nil) != (tt.want == "") || err != nil && !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("samePurchases = %v, want %q", err, tt.want)
			}
		})
	}
}

func TestLinesAreCountedWithoutBlankOnesAndComments(t *testing.T) {
	const text = "# a\n\n  b: c # d\n \t\n\t# e\ne:\n  - é\n"
	lines, characters := size(text, "#")
	same.As(t, "lines", []int{3, 13}, []int{lines, characters})
	lines, characters = size("// a\nb // c", "//")
	same.As(t, "lines of the last line without an end", []int{1, 6}, []int{lines, characters})
	lines, characters = size("", "#")
	same.As(t, "lines of nothing", []int{0, 0}, []int{lines, characters})
}

func TestScriptsAreComparedByCore(t *testing.T) {
	of := func(name, text string) script {
		return script{contender: contender{name: name, over: overTCP}, file: name + ".x", text: text, comment: "#"}
	}
	bought := func(requests int64) sample {
		s := perSecondOf(requests)
		s.counters.Routes = map[string]int64{paidOrder: requests / 9}
		return s
	}
	list := []script{of("loadworker", "a\nbc\n"), of("k6", "# no\na\n"), of("locust", "a\nb\nc\n")}
	results := map[key][]sample{
		list[0].key(): {bought(899), bought(99), bought(1799)}, list[1].key(): {bought(449), bought(49), bought(1799)}, list[2].key(): {bought(89), bought(9), bought(89)},
	}
	var out strings.Builder
	writeScripts(&out, list, results)
	want := "" +
		"| generator | file | lines | characters | journeys/s | requests/s (min..max) | CPU us/req | requests/s of a core | x k6 | x locust | cores | shop's cores | RSS MB |\n" +
		"| - | - | - | - | - | - | - | - | - | - | - | - | - |\n" +
		"| loadworker | loadworker.x | 2 | 3 | 99 | 899 (99..1799) | 555.56 | 1800 | 2.00 | 10.00 | 0.50 | 0.25 | 3.0 |\n" +
		"| k6 | k6.x | 1 | 1 | 49 | 449 (49..1799) | 1111.11 | 900 | 1.00 | 5.00 | 0.50 | 0.25 | 3.0 |\n" +
		"| locust | locust.x | 3 | 3 | 9 | 89 (9..89) | 5555.56 | 180 | 0.20 | 1.00 | 0.50 | 0.25 | 3.0 |\n"
	same.As(t, "table", strings.Fields(want), strings.Fields(out.String()), ignoreRules)
	same.As(t, "last line", "bench-shop: lines=2 lines-k6=1 requests-per-core-vs-k6=2.00 lines-locust=3 requests-per-core-vs-locust=10.00", shopLine(list, results))
	delete(results, list[2].key())
	same.As(t, "last line without Locust", "bench-shop: lines=2 lines-k6=1 requests-per-core-vs-k6=2.00", shopLine(list[:2], results))
	same.As(t, "a ratio to what was not measured", "", byCore(results, "k6", "locust"))
}

// A generator that ends without a request is an error, and no usage of nothing.
func TestAGeneratorThatSendsNothingIsAnError(t *testing.T) {
	control := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(control.Close)
	p, err := process.Start(process.Command{Path: "true", Core: process.Anywhere})
	must.Succeed(t, err)
	if _, err := sinceFirst(t.Context(), &target{Control: control.URL}, p, p.Stop); err == nil || !strings.HasPrefix(err.Error(), "wait for the first request: ") {
		t.Errorf("sinceFirst = %v, want that no request came", err)
	}
	if _, err := sinceFirst(t.Context(), &nginx{}, p, nil); err == nil {
		t.Error("a server that does not say when the first request came is accepted")
	}
}

func TestLocustIsPinned(t *testing.T) {
	text := must.ReadFile(t, "shop/requirements.txt")
	allPinned(t, string(text), "locust")
}

// allPinned fails unless requirements pin all that is in them, and some packages.
func allPinned(t *testing.T, requirements string, packages ...string) {
	t.Helper()
	for line := range strings.Lines(requirements) {
		name, version, _ := strings.Cut(line, "==")
		if strings.ContainsFunc(name+strings.TrimSuffix(version, "\n"), unicode.IsSpace) {
			t.Errorf("pip refuses %q", line)
		}
		packages = append(packages, name)
	}
	for _, name := range packages {
		if peer.Pinned(requirements, name) == "" {
			t.Errorf("%q is not pinned", name)
		}
	}
}
