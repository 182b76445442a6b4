package entry

// UnsupportedError is a kernel that a device cannot have, as it lacks an
// operation or a number format: refused when it is compiled, never computed in
// another way.
type UnsupportedError struct{ Text string }

func (e *UnsupportedError) Error() string { return e.Text }
