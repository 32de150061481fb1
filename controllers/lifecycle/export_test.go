package lifecycle

// Room is how many bytes a LoadTest has left for its results.
var Room = room
