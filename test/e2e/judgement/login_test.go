//go:build e2e

package judgement

import (
	"fmt"
	"strings"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/e2e/cluster"
)

// loginSpec has users log in as browsers do: a page has a token in a cookie, a form and a header, the
// form is sent with both, and a redirect leads to where the session is needed.
const loginSpec = `
target: {service: {name: counter}, timeout: 10s}
parallelism: 2
requests:
  - {name: page, http: {path: /web/page}}
  - name: login
    http:
      method: POST
      path: /web/login
      form: [{name: csrf, value: "${csrf}"}, {name: nonce, value: "${nonce}"}, {name: user, value: "user ${user} & co"}]
      followRedirects: 3
  - {name: home, http: {path: "/web/home?token=${token}"}}
journeys:
  - name: sign in
    steps:
      - request: page
        captureFrom:
          - {name: csrf, match: 'name="csrf" value="([^"]+)"'}
          - {name: nonce, header: X-Nonce}
          - {name: token, cookie: token}
      - {request: login}
      - {request: home}
steps: [{name: logins, users: 8, requestsPerUser: 90}]
`

// checkLogin compares what the target got, part by part, with what is reported: 240 journeys, each with
// one redirect, which is one more request for a home.
func checkLogin(t *testing.T) judgement {
	ns := cluster.Namespace(t)
	target := cluster.CounterOf(t, ns)
	lt := cluster.Create(t, ns, "logins", loginSpec)
	cluster.Finish(t, lt)
	result := lt.Status.Steps[0].Result
	if result == nil || len(result.Journeys) != 1 || len(result.Requests) != 3 {
		t.Fatalf("there is no result of the journey: %+v", result)
	}
	all := target.MustRead(t)
	var got []string
	for _, part := range []string{"web-page", "web-login", "web-home"} {
		got = append(got, fmt.Sprintf("%d %s, %d wrong", all[part].Received, part, all[part].Wrong))
	}
	j := result.Journeys[0]
	return agree(
		"Passed, 240 of 240 journeys, 720 requests, 240 redirects, 240 of login: 240 web-page, 0 wrong; 240 web-login, 0 wrong; 480 web-home, 0 wrong",
		fmt.Sprintf("%s, %d of %d journeys, %d requests, %d redirects, %d of login: %s", lt.Status.Verdict, j.Completed, j.Started, result.Expected,
			result.Redirects, result.Requests[1].Redirects, strings.Join(got, "; ")), lt)
}
