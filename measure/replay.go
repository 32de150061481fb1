package measure

// Replay is what became of the lines of a log that were read for a step. Those that are counted
// nowhere else are due.
type Replay struct {
	// Lines are all that were read, without blank ones.
	Lines int64
	// NotParsed are no request. OtherMethods have a method that is not sent, NotRouted match no route,
	// OutOfOrder came too far behind later ones to be sorted, and OutsideWindow came before or after
	// the window of the log.
	NotParsed, OtherMethods, NotRouted, OutOfOrder, OutsideWindow int64
	// Mistake says why the first of NotParsed is none; of the merged, the alphabetically first.
	Mistake string
}

// ToSend is how many of the lines are due.
func (r *Replay) ToSend() int64 {
	return r.Lines - r.NotParsed - r.OtherMethods - r.NotRouted - r.OutOfOrder - r.OutsideWindow
}

// merge adds o, of another worker.
func (r *Replay) merge(o *Replay) {
	r.Lines += o.Lines
	r.NotParsed += o.NotParsed
	r.OtherMethods += o.OtherMethods
	r.NotRouted += o.NotRouted
	r.OutOfOrder += o.OutOfOrder
	r.OutsideWindow += o.OutsideWindow
	r.Mistake = oneOf(r.Mistake, o.Mistake)
}

func (s *Measurement) mergeReplay(o *Measurement) {
	if o.Replay == nil {
		return
	}
	if s.Replay == nil {
		s.Replay = &Replay{}
	}
	s.Replay.merge(o.Replay)
}
