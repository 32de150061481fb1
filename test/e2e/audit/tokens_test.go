package audit

import "testing"

func TestTaken(t *testing.T) {
	const head = "# Commandstats\r\n"
	tests := map[string]struct {
		info string
		n    int64
		err  string
	}{
		"some": {
			info: head + "cmdstat_hmget:calls=150,usec=300\r\ncmdstat_hset:calls=52,usec=104,usec_per_call=2.00,rejected_calls=0,failed_calls=0\r\ncmdstat_evalsha:calls=150,usec=9\r\n",
			n:    52,
		},
		"none yet":             {info: head + "cmdstat_ping:calls=3,usec=3\r\n"},
		"nothing was run":      {info: head},
		"another command":      {info: head + "cmdstat_hsetnx:calls=3,usec=3\r\n"},
		"a line that is odd":   {info: head + "cmdstat_hset:calls=many,usec=3\r\n", err: `read how often redis ran HSET: strconv.ParseInt: parsing "many": invalid syntax`},
		"not let in":           {info: "NOAUTH Authentication required.\r\n", err: `statistics of redis begin with "NOAUTH Authentication required.\r\n", not with "# Commandstats"`},
		"no statistics at all": {err: `statistics of redis begin with "", not with "# Commandstats"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			n, err := Taken(tc.info)
			if n != tc.n || said(err) != tc.err {
				t.Errorf("Taken() = %d, %q; want %d, %q", n, said(err), tc.n, tc.err)
			}
		})
	}
}
