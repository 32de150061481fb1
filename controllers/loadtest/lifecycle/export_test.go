package lifecycle

// MaxDefaults is for how many default thresholds there is room.
const MaxDefaults = maxDefaults

// Room is how many bytes a LoadTest has left for its results.
var Room = room
