// Command definitions prints what the definitions of our resources cost an API server: their
// size as JSON, of which plain kubectl apply takes 262,144 bytes in an annotation, and what
// their rules cost at most, by the API server's own estimate, which refuses 100,000,000.
package main
