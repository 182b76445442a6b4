package mtl

// sizes are the arguments that two MTLSize become: each is three words on the
// stack, which comes after the registers. Two of those hold the object and the
// method's name.
func sizes(groups, items *[3]uintptr) []uintptr {
	return []uintptr{0, 0, 0, 0, groups[0], groups[1], groups[2], items[0], items[1], items[2]}
}
