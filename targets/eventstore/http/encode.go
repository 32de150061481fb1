package http

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/loadtest-dev/loadtest-operator/targets/eventstore"
)

// appendEvent adds an event as JSON. Its data is the JSON that its writer sent.
func appendEvent(buf []byte, e eventstore.Event) []byte {
	buf = append(buf, `{"position":`...)
	buf = strconv.AppendInt(buf, e.Position, 10)
	buf = append(buf, `,"type":`...)
	buf = appendString(buf, e.Type)
	buf = append(buf, `,"data":`...)
	buf = append(buf, e.Data...)
	buf = append(buf, `,"timestamp":"`...)
	buf = e.Timestamp.UTC().AppendFormat(buf, time.RFC3339Nano)
	return append(buf, `"}`...)
}

// appendString adds a string as JSON, at once if there is nothing to escape, as
// is usual in the type of an event.
func appendString(buf []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			// A string always encodes.
			quoted, _ := json.Marshal(s)
			return append(buf, quoted...)
		}
	}
	buf = append(buf, '"')
	buf = append(buf, s...)
	return append(buf, '"')
}
