package http1

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/loadtest-dev/loadtest-operator/test/must"
	"github.com/loadtest-dev/loadtest-operator/test/same"
)

// vector is a test vector of llhttp, the parser of Node.js, with what it makes of the
// first response, after any interim ones.
type vector struct {
	File string `json:"file"`
	Name string `json:"name"`
	// Mode is what llhttp is lenient about; empty: nothing.
	Mode string `json:"mode"`
	// Head says that no body follows, as after HEAD.
	Head   bool   `json:"head"`
	Text   string `json:"text"`
	LLHTTP parsed `json:"llhttp"`
	// Here is set where the parser here differs on purpose, and Why says the purpose.
	Here *parsed `json:"here"`
	Why  string  `json:"why"`
}

// parsed is what a parser makes of a text.
type parsed struct {
	// End is whole, error, or more: the response goes on, at most until the connection
	// ends.
	End    string `json:"end"`
	Status int    `json:"status"`
	Body   string `json:"body"`
}

// llhttp's vectors for responses are parsed as llhttp does, but for those that say why
// not.
func TestParseTakesTheVectorsOfLLHTTP(t *testing.T) {
	text, err := os.ReadFile("testdata/llhttp/responses.json")
	must.Succeed(t, err)
	var all []vector
	must.Succeed(t, json.Unmarshal(text, &all))
	if len(all) != 85 {
		t.Errorf("%d vectors, want 85", len(all))
	}
	for _, v := range all {
		t.Run(v.File+": "+v.Name, func(t *testing.T) {
			want := v.LLHTTP
			if v.Here != nil {
				if want = *v.Here; v.Why == "" || want == v.LLHTTP {
					t.Error("it differs without a reason, or not at all")
				}
			}
			same.As(t, "in one piece", want, parseVector(v, []byte(v.Text)))
			same.As(t, "byte by byte", want, parseVector(v, nil))
		})
	}
}

// parseVector parses a vector in one piece or, without one, byte by byte.
func parseVector(v vector, piece []byte) parsed {
	var r responseReader
	r.parser.begin(v.Head, math.MaxInt, false)
	var err error
	if piece != nil {
		err = r.feed(piece)
	}
	for i := 0; piece == nil && err == nil && i < len(v.Text) && !r.parser.done(); i++ {
		err = r.feed([]byte(v.Text[i : i+1]))
	}
	switch {
	case err != nil:
		return parsed{End: "error"}
	case r.parser.done():
		return parsed{End: "whole", Status: r.parser.status, Body: string(r.parser.response().Body)}
	}
	return parsed{End: "more", Status: r.parser.status, Body: string(r.parser.response().Body)}
}
