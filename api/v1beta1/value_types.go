package v1beta1

import (
	"encoding/json"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Decimal is a number greater than 0, with at most nine digits before the point
// and six behind it. A whole number is written with or without quotes, a fraction
// with them: 100, "100", "0.5". There are no floats, which do not survive every
// JSON codec unchanged.
//
// +kubebuilder:validation:XIntOrString
// +kubebuilder:validation:MaxLength=16
// +kubebuilder:validation:XValidation:rule="string(self).matches('^[0-9]{1,9}([.][0-9]{1,6})?$') && double(self) > 0.0",message="must be a number from 0.000001 to 999999999, of up to 6 decimals: 12, or in quotes \"0.5\""
type Decimal intstr.IntOrString

// NewDecimal is a decimal of that text.
func NewDecimal(text string) Decimal { return Decimal(intstr.FromString(text)) }

// String is the number as text.
func (d Decimal) String() string { return (*intstr.IntOrString)(&d).String() }

// MarshalJSON writes the number as it was read, with or without quotes.
func (d Decimal) MarshalJSON() ([]byte, error) { return json.Marshal(intstr.IntOrString(d)) }

// UnmarshalJSON reads a whole number or a string.
func (d *Decimal) UnmarshalJSON(raw []byte) error {
	return json.Unmarshal(raw, (*intstr.IntOrString)(d))
}

// OrZero is a duration that may be absent; then it is 0.
func OrZero(d *metav1.Duration) time.Duration {
	if d == nil {
		return 0
	}
	return d.Duration
}

// JSONSize is how many bytes a value takes as JSON. What cannot be written, and came as no
// JSON, counts as more than any object may have: it must not count as nothing.
func JSONSize(v any) int {
	raw, err := json.Marshal(v)
	if err != nil {
		return 1 << 30 // bytes
	}
	return len(raw)
}

// JSONText is a text as a JSON value.
func JSONText(text string) apiextensionsv1.JSON {
	raw, _ := json.Marshal(text) // a string always can be
	return apiextensionsv1.JSON{Raw: raw}
}

// Text is the expected value as it is compared: of a string its content, of
// anything else its JSON.
func (v *ExpectedValue) Text() string {
	raw := v.Equals.Raw
	if len(raw) == 0 {
		return "null"
	}
	var text string
	if raw[0] == '"' && json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}
