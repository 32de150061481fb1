// The race detector looks at the tests of this file, too: its bodies are read by a goroutine of their own.

package source

import (
	"runtime"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/loadworker/transport"
	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// A megabyte of brackets must not become half a gigabyte of stack.
func TestNestedJSONTakesLittleStack(t *testing.T) {
	const most = 16 << 20
	for name, body := range map[string]string{
		"lists":            strings.Repeat("[", maxBody),
		"objects":          strings.Repeat(`{"a":`, maxBody/5),
		"closed lists":     strings.Repeat("[", maxBody/2) + strings.Repeat("]", maxBody/2),
		"after a string":   `["\"` + strings.Repeat("]", 100) + `",` + strings.Repeat("[", maxBody-200),
		"beside a closing": strings.Repeat("[[],", maxBody/4),
	} {
		t.Run(name, func(t *testing.T) {
			grown := make(chan int64)
			go func() {
				before := stacks()
				_, ok := parseJSON([]byte(body))
				if ok {
					t.Error("it is taken for JSON")
				}
				grown <- stacks() - before
			}()
			if n := <-grown; n > most {
				t.Errorf("the stacks grew by %d MiB", n>>20)
			}
		})
	}
	s := &Source{requests: []request{{}}}
	var err error
	s.requests[0].expect, err = (Expectation{JSON: []ExpectedValue{{Path: ".a", Equals: "1"}}}).compile()
	must.Succeed(t, err)
	nested := []byte(strings.Repeat("[", maxBody))
	if err := s.CheckBody(0, &transport.Response{Status: 200, Size: maxBody, Body: nested}); err == nil || len(err.Error()) > 200 {
		t.Errorf("an expected value of it: %v", err)
	}
}

// stacks is how much memory the stacks of all goroutines take. It shrinks when the garbage
// of earlier ones is collected.
func stacks() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.StackSys)
}

func TestDepth(t *testing.T) {
	for body, want := range map[string]int{"": 0, "1": 0, "[]": 1, "[[],[]]": 2, `{"a":[{}]}`: 3, `"[[["`: 0, `["\"[["]`: 1, `["\\",[]]`: 2, "]]][": 0, `"`: 0, `"\`: 0} {
		same.As(t, body, want, depth([]byte(body)))
	}
	deep := strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth)
	if _, ok := parseJSON([]byte(deep)); !ok {
		t.Error("what encoding/json takes is refused")
	}
	if _, ok := parseJSON([]byte("[" + deep + "]")); ok {
		t.Error("what is deeper is taken")
	}
}
