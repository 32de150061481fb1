package groundtruth

import (
	"bytes"
	"compress/gzip"
	"math/rand/v2"
	"time"
)

// step is what a stream writes at once.
type step struct {
	at     time.Duration // after the request
	bytes  []byte        // of the body
	event  bool          // it is the end of an event, and
	stalls bool          // the stall follows it
	end    bool          // it is the last step: the response ends, or breaks
}

// playback is one response of a stream: its steps in order.
type playback struct {
	stream *Stream
	random *rand.Rand
	events int           // that are in the steps so far
	at     time.Duration // of the next event
	ready  []step

	packer *gzip.Writer // into packed; nil: nothing is compressed
	packed bytes.Buffer
}

func (s *Stream) play(seed uint64, number int64) *playback {
	p := &playback{stream: s, random: drawing(seed, number), at: s.First}
	if s.Gzip {
		p.packer = gzip.NewWriter(&p.packed)
	}
	return p
}

// pack compresses what is written next of the body; last says that nothing follows.
func (p *playback) pack(b []byte, last bool) []byte {
	if p.packer == nil {
		return b
	}
	p.packed.Reset()
	_, _ = p.packer.Write(b) // into memory
	if last {
		_ = p.packer.Close()
	} else {
		_ = p.packer.Flush()
	}
	return bytes.Clone(p.packed.Bytes())
}

// next is the next step. After the last one there is none to be asked for.
func (p *playback) next() step {
	if len(p.ready) == 0 {
		begins := p.events == 0
		p.ready = p.following()
		if begins && p.stream.ByteOrderMark {
			p.ready[0].bytes = append([]byte("\ufeff"), p.ready[0].bytes...)
		}
	}
	first := p.ready[0]
	p.ready = p.ready[1:]
	return first
}

// following are the steps up to the end of the next event, or to the end.
func (p *playback) following() []step {
	s := p.stream
	if s.Break != Keep && p.events == s.BreakAfter {
		return []step{{at: p.at, end: true}}
	}
	if p.events == s.Events {
		steps := p.pieces(p.pack(s.last(), true))
		return append(steps, step{at: steps[len(steps)-1].at, end: true})
	}
	p.events++
	var steps []step
	if s.Comments && p.events > 1 {
		steps = append(steps, step{at: p.at - s.Every/2, bytes: p.pack(s.comment(), false)})
	}
	steps = append(steps, p.pieces(p.pack(s.event(p.events), false))...)
	steps[len(steps)-1].event, steps[len(steps)-1].stalls = true, s.stall(p.events) > 0
	if p.events == s.Events && s.Break == Keep {
		p.at += s.stall(p.events) // the end comes with the last event
	} else {
		p.at += s.gap(p.events, p.random)
	}
	return steps
}

// pieces are the steps in which bytes are written.
func (p *playback) pieces(bytes []byte) []step {
	if p.stream.Piece == 0 || len(bytes) == 0 {
		return []step{{at: p.at, bytes: bytes}}
	}
	steps := make([]step, len(bytes))
	for i := range bytes {
		steps[i] = step{at: p.at + time.Duration(i)*p.stream.Piece, bytes: bytes[i : i+1]}
	}
	return steps
}
