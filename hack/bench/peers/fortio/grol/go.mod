// A stand-in for fortio's scripting language, whose module the Go proxy does
// not serve. It satisfies the compiler and refuses to run: scripting is no part
// of what is measured.
module grol.io/grol

go 1.26.0
