package rights

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// Request is what an account asked for, however often.
type Request struct {
	Verb, Group, Resource, Namespace, Name string
	// Forbidden says that the API server did not allow it.
	Forbidden bool
}

// event is a line of an audit log.
type event struct {
	Verb, UserAgent          string
	User                     struct{ Username string }
	ImpersonatedUser         *struct{ Username string }
	RequestReceivedTimestamp time.Time
	Annotations              map[string]string
	ObjectRef                *struct{ APIGroup, Resource, Subresource, Namespace, Name string }
}

// decision is where the log says whether a request was allowed.
const decision = "authorization.k8s.io/decision"

// maxLine bounds a line of the log, which has no bodies.
const maxLine = 1 << 20

// Account is whose requests are read.
type Account struct {
	Username string
	// Stolen is the user agent of those who have its token.
	Stolen string
}

func (a Account) made(e event) bool {
	return e.User.Username == a.Username && e.UserAgent != a.Stolen && e.ImpersonatedUser == nil
}

// Read adds to the requests what a log has of an account from an instant on. Requests of
// another that passed for the account are not its own.
func Read(requests map[Request]bool, log io.Reader, account Account, since time.Time) error {
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return fmt.Errorf("read audit log: %w: %.200s", err, lines.Text())
		}
		if !account.made(e) || e.ObjectRef == nil || e.RequestReceivedTimestamp.Before(since) {
			continue
		}
		o := e.ObjectRef
		resource := o.Resource
		if o.Subresource != "" {
			resource += "/" + o.Subresource
		}
		requests[Request{e.Verb, o.APIGroup, resource, o.Namespace, o.Name, e.Annotations[decision] == "forbid"}] = true
	}
	return lines.Err()
}
