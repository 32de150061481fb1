package expect

// explained says of an expectation that does not hold why it does not, as far as that is
// known, and what of it was not measured. It is the one place for it.
var explained = map[string]string{
	"000-more-users-are-not-faster": "The step before is the first in which V3's pool of connections to PgBouncer fills, each with a handshake of its own. That this is the cause was not measured.",
}
