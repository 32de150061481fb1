// Package admission is what an API server does with a LoadTest before it stores it:
// unknown fields are refused, defaults are set, and the schema and its rules checked,
// by the code of the API server itself and from the same definition.
//
//	manifest ──▶ unknown fields ──▶ defaults ──▶ schema ──▶ rules ──▶ LoadTest
//
// It calls no API server, and does not judge what a LoadTest means.
package admission
