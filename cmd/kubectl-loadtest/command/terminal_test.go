package command_test

import (
	"strings"
	"testing"
	"unicode"
)

// Whoever may create LoadTests chooses names, which stand in messages, too: the terminal of who looks at them must not
// obey them.
func TestNoTerminalObeysALoadTest(t *testing.T) {
	t.Parallel()
	const obeyed = `\e]0;owned\a\e[2J\u202e`
	p := newTestUser(t)
	hostile := func(s string) string {
		return strings.NewReplacer("name: 10 users", `name: "`+obeyed+`peak"`, "message: That was it.", `message: "`+obeyed+`that was it"`).Replace(s)
	}
	p.create(hostile(finished("Failed")))
	p.createNamed("waits", `{phase: Queued, conditions: [{type: Queued, status: "True", reason: ClusterRuns, message: "`+obeyed+`place"},
		{type: ThresholdsMet, status: "False", reason: Breached, message: "`+obeyed+`breached"}]}`)
	saved := write(t, "saved.yaml", strings.NewReplacer("name: nightly-", `name: "`+obeyed+`nightly-`, ", namespace: shop", `", namespace: shop`).Replace(
		finishedRuns("40ms", "41ms", "40ms", "52ms", "51ms", "52ms")))
	file := p.file(hostile(manifest("hello")))
	for _, args := range [][]string{
		{"list"}, {"list", "-o", "wide"}, {"watch", "hello"}, {"watch", "waits", "--timeout", "1s"}, {"plan", "-f", file}, {"validate", "-f", file}, {"trend", "-f", saved},
	} {
		got := p.run(args...)
		if i := strings.IndexFunc(got.out+got.err, func(r rune) bool { return r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) }); i >= 0 {
			t.Errorf("%v wrote, from byte %d on, what a terminal obeys: %q", args, i, got.out+got.err)
		}
	}
}
