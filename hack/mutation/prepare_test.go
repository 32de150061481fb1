package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLongTestsAreThoseThatTookLong(t *testing.T) {
	events, err := parse([]byte(`{"Action":"pass","Package":"m/p","Test":"TestA","Elapsed":0.125}
{"Action":"pass","Package":"m/p","Test":"TestA/row","Elapsed":0.1}
{"Action":"pass","Package":"m/p","Test":"TestB","Elapsed":2}
{"Action":"pass","Package":"m/p","Test":"TestC","Elapsed":0.5}
{"Action":"pass","Package":"m/p","Test":"TestF/parallel","Elapsed":0.25}
{"Action":"pass","Package":"m/p","Test":"TestF/parallel/row","Elapsed":0.1}
{"Action":"pass","Package":"m/p","Test":"TestF/too","Elapsed":0.25}
{"Action":"pass","Package":"m/p","Test":"TestF","Elapsed":0}
{"Action":"skip","Package":"m/p","Test":"TestD","Elapsed":9}
{"Action":"pass","Package":"m/p","Elapsed":2.5}
{"Action":"pass","Package":"m/q","Test":"TestE","Elapsed":0.2}
{"Action":"skip","Package":"m/none","Elapsed":0}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]tested{
		"m/p": {Slow: "^(TestB|TestC|TestF)$", Took: [2]float64{0.125, 3}},
		"m/q": {Took: [2]float64{0.2, 0}},
	}
	if diff := cmp.Diff(want, durations(events)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := parse([]byte("FAIL m/p [build failed]")); err == nil {
		t.Error("what is not JSON was read")
	}
}
