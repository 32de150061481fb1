# Prints all lines as they come, and at the end the summary of the suite again, not that of
# a part of it that hack/retest runs again, and what was excused: too much of it is the failure of no test.
{ print; fflush() }
/^=== again alone/ { again = 1 }
!again && /^(loads: .* checks|streams: .* checks|targets: .* presets|faults: .* injected|judgement: .* checks|abuse: .* tried|stop: .* runs|ecosystem: .* checks|ui: following=|why: .* checks)/ { last = $0 }
/^excused: [0-9]+ of|were excused, since the machine was busy/ { excused = excused $0 "\n" }
END { printf "%s", excused; if (last && suite) print last }
