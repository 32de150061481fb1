# Reads what `go test -json` says of the simulations, and prints the ratios that they printed
# in one line at the end; what they say meanwhile goes to the standard error, as it comes. It
# fails if a simulation did, or if a ratio is missing. Each is a test of the package that
# decides, named TestSimulated…, which prints a line "bench-judgement: NAME=RATIO".
BEGIN {
	n = split("healthy-target-failed dead-target-passed busy-undecided unsteady-sustained steady-refused " \
		"healthy-target-down search-within false-alarms missed-regressions false-aborts versus-false-alarms versus-missed", names)
}
/"Action":"fail"/ { failed = 1 }
!/"Output":"/ { next }
{
	text = $0
	sub(/.*"Output":"/, "", text)
	sub(/(\\n)?"}$/, "", text)
	gsub(/\\t/, "\t", text)
	gsub(/\\"/, "\"", text)
	if (text !~ /^(=== |PASS$|testing: )/ && text != "") print text > "/dev/stderr"
}
text ~ /^bench-judgement: / {
	count = split(text, words, " ")
	for (i = 2; i <= count; i++) {
		split(words[i], pair, "=")
		ratio[pair[1]] = pair[2]
	}
}
END {
	for (i = 1; i <= n; i++) {
		if (names[i] in ratio) line = line " " names[i] "=" ratio[names[i]]
		else { print "bench-judgement: there is no " names[i] > "/dev/stderr"; failed = 1 }
	}
	print "bench-judgement:" line
	exit failed
}
