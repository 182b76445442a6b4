package cpuid

// What CPUID's registers mean, apart from reading them, so that every platform
// tests it.

// familyModel decodes EAX of leaf 1 (AMD APM volume 3, Intel SDM volume 2A).
func familyModel(a uint32) (family, model int) {
	family, model = int(a>>8&15), int(a>>4&15)
	if family == 15 || family == 6 {
		model |= int(a >> 16 & 15 << 4)
	}
	if family == 15 {
		family += int(a >> 20 & 255)
	}
	return family, model
}

// add takes in one entry of the cache leaf; false if it ends the list.
func (k *Caches) add(a, b, c uint32) bool {
	const none, data, unified = 0, 1, 3
	kind := a & 31
	if kind == none {
		return false
	}
	ways, partitions, line, sets := b>>22+1, b>>12&0x3ff+1, b&0xfff+1, c+1
	size := int(ways) * int(partitions) * int(line) * int(sets)
	switch level := a >> 5 & 7; {
	case level == 1 && kind == data:
		k.L1D = size
	case level == 2 && kind == unified:
		k.L2 = size
	case level == 3 && kind == unified:
		k.L3, k.ThreadsPerL3 = size, int(a>>14&0xfff+1)
	}
	return true
}
