# Prints all lines as they come, and repeats at the end the first lines that each failed
# test printed: they say why, and are far above when a test prints much. The summary of a suite
# is the last line, and not that of a part of it that hack/retest runs again.
{ print; fflush() }
/^=== (RUN|CONT|NAME) / { test = $3; next }
/^ *--- FAIL: / { if (said[$3]) failures = failures "\n" $3 ":" said[$3]; next }
/^=== again alone/ { again = 1 }
!again && /^(targets: .* presets|faults: .* injected|judgement: .* checks|abuse: .* tried|stop: .* runs|ecosystem: .* checks)/ { last = $0 }
test && lines[test] < 60 && !/^ *(---|===|PASS|ok)/ { lines[test]++; said[test] = said[test] "\n" $0 }
END {
	if (failures) print "\nwhat failed, first lines of each:" failures
	if (last && suite) print last
}
