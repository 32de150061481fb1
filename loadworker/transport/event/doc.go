// Package event reads the events of responses that are streams, such as server-sent events. It has
// neither a connection nor a clock: it is told of what was read, and when.
//
//	Reader    a response that is read as a stream
//	  │ Header, Body, EndChunk, End   what was read of it
//	  │ Tell                          after each read: tells the transport.Watcher what came
//	  │ At, Limit, Passed             when to give it up, and with which outcome
//	  └─ splitter   bytes of a body, in any pieces → how many events they complete
//
// A client feeds a Reader in the order of one read:
//
//	for each piece of the body in it   Body, and EndChunk at the end of a chunk
//	if the response is whole           End
//	once                               Tell, and At if that says so
//
// A splitter keeps no bytes of events, however long they are: what it must compare with the data of
// the last event, it compares as it comes.
package event
