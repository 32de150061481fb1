package reply

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/same"
)

func TestRepliesAreWrittenOrFailWhole(t *testing.T) {
	type answer struct {
		Status int
		Header http.Header
		Body   string
	}
	nosniff := []string{"nosniff"}
	tests := map[string]struct {
		reply Reply
		want  answer
	}{
		"a body": {
			reply: Reply{Status: 201, Headers: []Header{{"Location", "/a"}}, Body: State{"ready"}},
			want: answer{201, http.Header{
				"Content-Type": {"application/json"}, "Location": {"/a"}, "X-Content-Type-Options": nosniff,
			}, "{\"status\":\"ready\"}\n"},
		},
		"no body": {
			reply: Reply{Status: 204},
			want:  answer{204, http.Header{"X-Content-Type-Options": nosniff}, ""},
		},
		"a failure": {
			reply: Failure(404, "no such page"),
			want: answer{404, http.Header{
				"Content-Type": {"application/json"}, "X-Content-Type-Options": nosniff,
			}, "{\"error\":\"no such page\"}\n"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := httptest.NewRecorder()
			tt.reply.Write(w)
			got := answer{w.Code, w.Header(), w.Body.String()}
			same.As(t, "answer", tt.want, got)
		})
	}
}
