package audit

import (
	"os"
	"testing"
	"testing/fstest"

	"sigs.k8s.io/yaml"

	"github.com/loadtest-dev/loadtest-operator/api/v1beta1"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

const defaults = `
shortener: {enabled: false, replicas: 1, api: canonical, clicks: {mode: none}, service: {name: shortener, port: 8080}}
eventstore: {enabled: false, replicas: 1, service: {name: eventstore, port: 8080}}
ratelimiter: {enabled: false, replicas: 4, strategy: lua, capacity: 50, refillPerSecond: 10, service: {name: ratelimiter, port: 80}}
redis: {enabled: true}
`

func chart(presets map[string]string) fstest.MapFS {
	files := fstest.MapFS{
		"values.yaml":       {Data: []byte(defaults)},
		"values-local.yaml": {Data: []byte("ratelimiter: {enabled: true}")},
	}
	for name, text := range presets {
		files["values-"+name+".yaml"] = &fstest.MapFile{Data: []byte(text)}
	}
	return files
}

func TestPresets(t *testing.T) {
	got, err := Presets(chart(map[string]string{
		"seed-002-v01": "shortener: {enabled: true, api: seed-002, clicks: {mode: sync}}",
		"seed-002-v03": "shortener: {enabled: true, replicas: 4, api: seed-002, clicks: {mode: redis}}",
		"seed-000-v1":  "shortener: {enabled: true}",
		"seed-003-1gb": "eventstore: {enabled: true}",
		"seed-003-2gb": "eventstore: {enabled: true, service: {port: 81}}",
		"seed-004-lua": "ratelimiter: {enabled: true, refillPerSecond: 2.5}",
		"seed-004-odd": "ratelimiter: {enabled: true, strategy: hash}",
	}))
	must.Succeed(t, err)
	shortener := func(name string, p Preset) Preset {
		p.Name, p.File, p.Service, p.Host, p.Port = name, "values-"+name+".yaml", Shortener, "shortener", 8080
		return p
	}
	want := []Preset{
		shortener("seed-000-v1", Preset{Replicas: 1, API: "canonical", Clicks: "none"}),
		shortener("seed-002-v01", Preset{Replicas: 1, API: "seed-002", Clicks: "sync"}),
		shortener("seed-002-v03", Preset{Replicas: 4, API: "seed-002", Clicks: "redis", Disturbed: true}),
		{Name: "seed-003-1gb", File: "values-seed-003-1gb.yaml", Service: EventStore, Host: "eventstore", Port: 8080, Replicas: 1, Disturbed: true},
		{Name: "seed-003-2gb", File: "values-seed-003-2gb.yaml", Service: EventStore, Host: "eventstore", Port: 81, Replicas: 1},
		{
			Name: "seed-004-lua", File: "values-seed-004-lua.yaml", Service: RateLimiter, Host: "ratelimiter", Port: 80, Replicas: 4,
			Strategy: "lua", Capacity: 50, RefillPerSecond: 2.5, Disturbed: true,
		},
		{
			Name: "seed-004-odd", File: "values-seed-004-odd.yaml", Service: RateLimiter, Host: "ratelimiter", Port: 80, Replicas: 4,
			Strategy: "hash", Capacity: 50, RefillPerSecond: 10,
		},
	}
	same.As(t, "presets", want, got)
}

func TestPresetsRefuse(t *testing.T) {
	tests := map[string]struct {
		chart fstest.MapFS
		want  string
	}{
		"no presets": {chart(nil), "the chart has no values-seed-*.yaml"},
		"no service": {
			chart(map[string]string{"seed-000": "redis: {enabled: false}"}), "values-seed-000.yaml: 0 services are enabled: a preset has one",
		},
		"two services": {
			chart(map[string]string{"seed-000": "{shortener: {enabled: true}, eventstore: {enabled: true}}"}),
			"values-seed-000.yaml: 2 services are enabled: a preset has one",
		},
		"no defaults": {fstest.MapFS{}, "open values.yaml: file does not exist"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := Presets(tc.chart); err == nil || err.Error() != tc.want {
				t.Errorf("error = %v, want %s", err, tc.want)
			}
		})
	}
	if _, err := Presets(chart(map[string]string{"seed-000": "shortener: ["})); err == nil {
		t.Error("a file that is no YAML was accepted")
	}
}

func TestCountsClicks(t *testing.T) {
	for mode, want := range map[string]bool{"": false, "none": false, "sync": true, "redis": true, "kafka": true} {
		if got := (Preset{Clicks: mode}).CountsClicks(); got != want {
			t.Errorf("mode %q: counts = %v, want %v", mode, got, want)
		}
	}
}

func TestVictims(t *testing.T) {
	tests := map[string]struct {
		preset Preset
		want   []string
	}{
		"undisturbed":               {preset: Preset{Clicks: "sync"}},
		"disturbed":                 {preset: Preset{Clicks: "none", Disturbed: true}, want: []string{"app"}},
		"queued in Redis":           {preset: Preset{Clicks: "redis"}, want: []string{"clicks"}},
		"disturbed, with its queue": {preset: Preset{Clicks: "kafka", Disturbed: true}, want: []string{"app", "clicks"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			same.As(t, "victims", tc.want, tc.preset.Victims())
		})
	}
}

// The chart's own presets can be read, of each service one is disturbed, and
// what is sent to each is a spec.
func TestPresetsOfTheChart(t *testing.T) {
	presets, err := Presets(os.DirFS("../../../charts/targets"))
	must.Succeed(t, err)
	services, disturbed := map[Service]bool{}, map[Service]int{}
	for _, p := range presets {
		services[p.Service] = true
		if p.Disturbed {
			disturbed[p.Service]++
		}
		text, err := p.Spec()
		must.Succeed(t, err)
		var spec v1beta1.LoadTestSpec
		if err := yaml.UnmarshalStrict([]byte(text), &spec); err != nil {
			t.Errorf("%s: %v:\n%s", p.Name, err, text)
		}
		if p.Host == "" || p.Port == 0 || p.Replicas < 1 {
			t.Errorf("%s is at %q, port %d, with %d replicas", p.Name, p.Host, p.Port, p.Replicas)
		}
	}
	for service := range services {
		if disturbed[service] != 1 {
			t.Errorf("%d presets of %s are disturbed, want 1", disturbed[service], service)
		}
	}
}
