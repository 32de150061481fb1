package expect

// explained says of an expectation that does not hold why it does not, as far as that is
// known, and what of it was not measured. It is the one place for it.
var explained = map[string]string{}
