package page

// Question is asked before something is done.
type Question struct {
	Title, Sentence string
	// Yes is what the button says, Action where it sends to, and Back where the other leads.
	Yes, Action, Back string
}

// Ask is the page of a question. It works without a script.
func (s Site) Ask(q Question) (*Page, error) {
	p := &Page{Kicker: "A question", Title: q.Title, Still: true}
	var err error
	p.Parts, err = parts(of("question", q))
	return p, err
}

// Problem is a page that says what could not be shown or done.
func (s Site) Problem(title, sentence string) (*Page, error) {
	p := &Page{Kicker: "kubectl loadtest ui", Title: title, Still: true}
	var err error
	p.Parts, err = parts(of("problem", sentence))
	return p, err
}
