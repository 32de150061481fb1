// Package abuse tries what a tenant could do to others. It is a table, abuseGroups: a row has the
// rights of a person, what must refuse it and with which words; see docs/security/abuse.md.
package abuse
