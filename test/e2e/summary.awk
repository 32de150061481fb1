# Prints all lines as they come, and at the end the summary of the suite again, not that of
# a part of it that hack/retest runs again.
{ print; fflush() }
/^=== again alone/ { again = 1 }
!again && /^(targets: .* presets|faults: .* injected|judgement: .* checks|abuse: .* tried|stop: .* runs|ecosystem: .* checks)/ { last = $0 }
END { if (last && suite) print last }
