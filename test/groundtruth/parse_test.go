package groundtruth

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseReply(t *testing.T) {
	tests := map[string]struct {
		want Reply
		err  string
	}{
		"ok:64":           {want: OK(64)},
		"status:503:2":    {want: Status(503, 2)},
		"chunked:40":      {want: Chunked(40)},
		"untilclose:1":    {want: UntilClose(1)},
		"declared:9:1":    {want: Declared(9, 1, Keep)},
		"truncated:4":     {want: Truncated(4)},
		"overlong:4":      {want: Overlong(4)},
		"garbage":         {want: Garbage()},
		"earlyclose":      {want: EarlyClose()},
		"reset":           {want: Reset()},
		"largeheader:100": {want: LargeHeader(100)},
		"slow:64:8:10ms":  {want: Slow(64, 8, 10*time.Millisecond)},
		"interim:3":       {want: Interim(3)},
		"grpc:0:5":        {want: Call(0, 5)},
		"grpc:14:5":       {want: Call(14, 0)},
		"grpccut:4":       {want: CallCut(4)},
		"grpcunended:4":   {want: CallUnended(4)},
		"frame:data-idle": {want: Reply{Frame: "data-idle"}},
		"frame:x":         {err: `frame "x": must be one of data-idle, `},
		"frame":           {err: "a value is missing"},
		"":                {err: `"" is no kind of reply`},
		"fast:1":          {err: `"fast" is no kind of reply`},
		"ok":              {err: "a value is missing"},
		"ok:x":            {err: "invalid syntax"},
		"ok:-1":           {err: "-1 is not from 0"},
		"ok:999999999":    {err: "999999999 is not from 0"},
		"reset:1":         {err: `"1" is too much`},
	}
	for text, tt := range tests {
		t.Run(text, func(t *testing.T) {
			got, err := ParseReply(text)
			wantError(t, err, tt.err)
			if diff := cmp.Diff(tt.want, got); err == nil && diff != "" {
				t.Errorf("ParseReply (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseRoute(t *testing.T) {
	tests := map[string]struct {
		name string
		want Route
		err  string
	}{
		"slow=ok:64@fixed:3s": {name: "slow", want: Route{Latency: Fixed(3 * time.Second), Reply: OK(64)}},
		"=reset":              {want: Route{Reply: Reset()}},
		"ok:64":               {err: "must be name=reply"},
		"a=b":                 {err: `"b" is no kind of reply`},
		"a=ok:1@fixed":        {err: "invalid duration"},
	}
	for text, tt := range tests {
		t.Run(text, func(t *testing.T) {
			name, got, err := ParseRoute(text)
			wantError(t, err, tt.err)
			if diff := cmp.Diff(tt.want, got); err == nil && (diff != "" || name != tt.name) {
				t.Errorf("ParseRoute = %q (-want +got):\n%s", name, diff)
			}
		})
	}
}
