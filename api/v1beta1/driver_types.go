package v1beta1

// Driver is what drives the load.
//
// +kubebuilder:validation:Enum=Auto;Vegeta
type Driver string

const (
	// DriverAuto is event loops where the protocol and the system allow them, else
	// goroutines: what costs least.
	DriverAuto Driver = "Auto"
	// DriverVegeta is vegeta's Attacker, which makes each request and reads its response
	// through net/http's client. The same requests are due at the same times, and are
	// counted alike.
	DriverVegeta Driver = "Vegeta"
)
