// Command try is kubectl loadtest try alone, for make try: it links no client of a cluster, and so
// takes two thirds of the time that the whole plugin takes to compile.
package main
