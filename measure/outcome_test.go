package measure

import (
	"slices"
	"testing"
)

func TestClassifyStatus(t *testing.T) {
	tests := []struct {
		status   int
		expected bool
		want     Outcome
	}{
		{200, true, Success}, {302, true, Success}, {404, true, Success}, {503, true, Success},
		{429, true, RateLimited}, {429, false, RateLimited},
		{400, false, ClientError}, {404, false, ClientError}, {499, false, ClientError},
		{500, false, ServerError}, {599, false, ServerError},
		{101, false, UnexpectedStatus}, {200, false, UnexpectedStatus}, {302, false, UnexpectedStatus}, {600, false, UnexpectedStatus},
	}
	for _, tt := range tests {
		if got := ClassifyStatus(tt.status, tt.expected); got != tt.want {
			t.Errorf("ClassifyStatus(%d, %v) = %v, want %v", tt.status, tt.expected, got, tt.want)
		}
	}
}

// 304 says that what the client has is current, and 305 and 306 are not in use.
func TestIsRedirect(t *testing.T) {
	var got []int
	for status := range MaxStatus + 1 {
		if IsRedirect(status) {
			got = append(got, status)
		}
	}
	if want := []int{300, 301, 302, 303, 307, 308}; !slices.Equal(got, want) {
		t.Errorf("redirects are %d, want %d", got, want)
	}
}

func TestOutcomeNames(t *testing.T) {
	seen := map[string]bool{}
	for o := range Outcome(NumOutcomes) {
		name := o.String()
		if name == "" || name == "invalid" || seen[name] {
			t.Errorf("outcome %d has the name %q", o, name)
		}
		seen[name] = true
	}
	if got := Outcome(NumOutcomes).String(); got != "invalid" {
		t.Errorf("an outcome that is none has the name %q", got)
	}
}

func TestResponded(t *testing.T) {
	want := map[Outcome]bool{Success: true, RateLimited: true, ClientError: true, ServerError: true, UnexpectedStatus: true}
	for o := range Outcome(NumOutcomes) {
		if o.Responded() != want[o] {
			t.Errorf("%v.Responded() = %v, want %v", o, o.Responded(), want[o])
		}
	}
}
