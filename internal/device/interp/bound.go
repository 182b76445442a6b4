package interp

func boundStored(c *call)             {}
func boundCast(c *call)               {}
func boundBitcast(c *call)            {}
func boundPointwise(c *call)          {}
func boundWhere(c *call)              {}
func boundSum(c *call)                {}
func boundProd(c *call)               {}
func boundExtreme(c *call)            {}
func boundArg(c *call)                {}
func boundScatter(c *call)            {}
func boundMatMul(c *call)             {}
func boundConv(c *call)               {}
func boundAttention(c *call)          {}
func boundSort(c *call)               {}
func boundScan(c *call)               {}
func boundSegmentReduce(c *call)      {}
func spoil(out *value, err []float64) {}
