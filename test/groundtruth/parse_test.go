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
		"stream:20:200ms:20ms": {want: Reply{Stream: &Stream{
			Format: SSE, Events: 20, First: 200 * time.Millisecond, Every: 20 * time.Millisecond, LineEnd: "\n",
		}}},
		"stream:9:0s:1s:5ms:stall=4,2s:reset=6:large=3,100:invalid=2:comments:crlf:bom": {want: Reply{Stream: &Stream{
			Format: SSE, Events: 9, Every: time.Second, Jitter: 5 * time.Millisecond, LineEnd: "\r\n", Stall: 2 * time.Second, StallAfter: 4,
			Break: Abort, BreakAfter: 6, Large: 3, LargeOf: 100, Invalid: 2, Comments: true, ByteOrderMark: true,
		}}},
		"stream:endless:1s:1ms:close=0:cr:format=sse:pieces=2ms": {want: Reply{Stream: &Stream{
			Format: SSE, Events: Endless, First: time.Second, Every: time.Millisecond, LineEnd: "\r", Break: Close, Piece: 2 * time.Millisecond,
		}}},
		"stream:0:0s:0s:format=lines:crlf:unended": {want: Reply{Stream: &Stream{Format: Lines, LineEnd: "\r\n", Unended: true}}},
		"stream:1:0s:0s:completion":                {want: Reply{Stream: &Stream{Format: SSE, Events: 1, LineEnd: "\n", Completion: true}}},
		"stream:1:0s:0s:gzip":                      {want: Reply{Stream: &Stream{Format: SSE, Events: 1, LineEnd: "\n", Gzip: true}}},
		"stream:1:0s:0s:format=websocket":          {want: Reply{Stream: &Stream{Format: WebSocket, Events: 1, LineEnd: "\n"}}},
		"stream:1:0s:0s:format=websocket:gzip":     {err: "gzip and pieces must not be set for the format websocket"},
		"stream:1:0s:0s:gzip:bom":                  {err: "bom must not be set beside gzip"},
		"stream:1:0s:0s:gzip:format=grpc":          {err: "gzip must not be set for the format grpc"},
		"stream":                                   {err: "a value is missing"},
		"stream:3:1s":                              {err: "a value is missing"},
		"stream:-1:1s:1s":                          {err: "-1 is not from 0"},
		"stream:1000001:1s:1s":                     {err: "1000001 is not from 0 to 1000000"},
		"stream:x:1s:1s":                           {err: "invalid syntax"},
		"stream:3:-1s:1s":                          {err: "-1s is negative"},
		"stream:3:1s:1s:1x":                        {err: "unknown unit"},
		"stream:3:25h:1s":                          {err: "no time of a stream may be longer than 24h"},
		"stream:3:1s:1s:":                          {err: `"" is no option of a stream`},
		"stream:3:1s:1s:fast":                      {err: `"fast" is no option of a stream: must be format, stall, `},
		"stream:3:1s:1s:unended=1":                 {err: `option unended: "1" is too much`},
		"stream:3:1s:1s:crlf=":                     {err: `option crlf: "" is too much`},
		"stream:3:1s:1s:stall":                     {err: "option stall: a value is missing"},
		"stream:3:1s:1s:stall=1":                   {err: "option stall: a value is missing"},
		"stream:3:1s:1s:stall=0,1s":                {err: "option stall: 0 is not from 1 to 3"},
		"stream:3:1s:1s:stall=4,1s":                {err: "option stall: 4 is not from 1 to 3"},
		"stream:3:1s:1s:reset=4":                   {err: "option reset: 4 is not from 0 to 3"},
		"stream:3:1s:1s:large=1,99999999":          {err: "99999999 is not from 0"},
		"stream:3:1s:1s:pieces=0s":                 {err: "option pieces: must be more than 0"},
		"stream:3:1s:1s:pieces=1s:large=1,9":       {err: "large must not be set beside pieces"},
		"stream:3:1s:1s:reset=1:unended":           {err: "unended must not be set beside reset or close"},
		"stream:endless:1s:0s":                     {err: "must have a time between its events"},
		"stream:endless:1s:1s:unended":             {err: "unended must not be set for a stream without an end"},
		"stream:3:1s:1s:format=xml":                {err: `"xml" must be sse, lines, chunks, grpc or websocket`},
		"stream:3:1s:1s:format=lines:comments":     {err: "comments, cr, bom and completion must not be set for the format lines"},
		"stream:3:1s:1s:format=lines:completion":   {err: "comments, cr, bom and completion must not be set for the format lines"},
		"stream:3:1s:1s:completion:large=1,9":      {err: "large and invalid must not be set beside completion"},
		"stream:3:1s:1s:completion:invalid=1":      {err: "large and invalid must not be set beside completion"},
		"stream:3:1s:1s:format=chunks:crlf":        {err: "crlf must not be set for the format chunks"},
		"stream:3:1s:1s:format=grpc:invalid=1":     {err: "invalid must not be set for the format grpc"},
		"frame:x":                                  {err: `frame "x": must be one of data-idle, `},
		"frame":                                    {err: "a value is missing"},
		"":                                         {err: `"" is no kind of reply`},
		"fast:1":                                   {err: `"fast" is no kind of reply`},
		"ok":                                       {err: "a value is missing"},
		"ok:x":                                     {err: "invalid syntax"},
		"ok:-1":                                    {err: "-1 is not from 0"},
		"ok:999999999":                             {err: "999999999 is not from 0"},
		"reset:1":                                  {err: `"1" is too much`},
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
		"s=stream:3:1s:2s:stall=1,1s@fixed:3s": {name: "s", want: Route{Latency: Fixed(3 * time.Second), Reply: Reply{Stream: &Stream{
			Format: SSE, Events: 3, First: time.Second, Every: 2 * time.Second, LineEnd: "\n", Stall: time.Second, StallAfter: 1,
		}}}},
		"=reset":       {want: Route{Reply: Reset()}},
		"ok:64":        {err: "must be name=reply"},
		"a=b":          {err: `"b" is no kind of reply`},
		"a=ok:1@fixed": {err: "invalid duration"},
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
