// Package defects has one test or more for each way in which published load tests
// were found to mislead. Each fails if the defect is put into our own pipeline:
//
//	LoadTest ─ plan ─▶ assignments ─ assemble ─▶ runners ─▶ measurements
//	                                               ▲            │ wire, merge
//	                                      ground-truth server   ▼
//	                                               └─ judges ─ results, verdict
//
// What a test asserts is what the server counted, or follows from the
// schedule by arithmetic. Bounds on times are one-sided: nothing can be answered
// before the server answered it, however slow the machine is.
//
// The defects, and what finds them:
//
//	 1 a closed loop; unsent load not reported    TestCoordinatedOmission,
//	                                              TestIntendedAndActualLoad
//	 2 percentiles of successes only              TestQuantilesAreOfAllOutcomes
//	 3 percentiles of another rank or unit        TestQuantilesAreNearestRanks
//	 4 throughput counts failures                 TestFailuresAreNoThroughput
//	 5 rates over another time than the window    TestTheDrainIsNotInTheWindow
//	 6 timeouts not recognised                    TestTimeoutsAreRecognised
//	 7 failures that no breakdown explains        TestEveryFailureHasItsClass,
//	                                              TestEveryFailureToConnectHasItsClass
//	 8 a new connection for each request          TestConnectionsAreReused
//	 9 intended beside actual load not shown      TestIntendedAndActualLoad,
//	                                              TestNothingIsSentEarly
//	10 ramp or warm-up measured                   TestConnectionsAreOpenBeforeTheWindow,
//	                                              TestTheWarmUpIsNotMeasured
//	11 the generator's own limits not recorded    TestTheGeneratorsLatenessIsRecorded,
//	                                              TestTheGeneratorsUnsentLoadIsItsOwn,
//	                                              TestTheGeneratorsResourcesAreRecorded,
//	                                              TestABusyMachineIsNamed
//	12 one run, without error bars                TestRepetitionsShowHowFarTheyDiffer,
//	                                              TestOneRunSaysThatItIsOne,
//	                                              TestTooFewSamplesAreNoAnswer,
//	                                              TestTheSameSeedSendsTheSameRequests
//	13 correctness not verified after the load    TestTheTargetsAnswersAreAudited
//	14 version under test not verified            TestTheTargetIsTheOneThatWasMeant
//	15 a bad result fails nothing                 TestABreachFailsTheRun,
//	                                              TestErrorsAndUnsentLoadFailByDefault,
//	                                              TestExpectedDenialsDoNotFailByDefault
//	16 a part of the load passes for the whole    TestDrainedWorkerDoesNotPassForTheWhole
//
// Some are met in part. Of 11, it is not recorded whether a worker and the target share
// a machine; the lack of resources and the lateness that follow are. Of 12, repetitions
// give a spread, from least to greatest, and the report of one run states that it is of
// one. Of 13, the grants and denials of a limiter are checked against its contract
// here; TestTargets of test/e2e compares the stored records of a target with the
// acknowledged ones. Of 14, a spec with a preflight sends no load to a target that
// fails it, and the report of any other run states that the target was not verified.
//
// The package has no code of its own beside this comment.
package defects
