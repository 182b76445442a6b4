package planted

// pairDefects are in products of bytes by pairs.
var pairDefects = []Defect{
	pairDefect("pairs-of-the-first-columns", "gemm_pairs_panels.go", `return overflows(a[0], b[0])|overflows(a[1], b[1]) == 0`, `return overflows(a[0], b[0]) == 0`),
	pairDefect("pairs-below-a-byte", "gemm_pairs_panels.go", `return (sum ^ a) & (sum ^ b) & signs`, `return (sum ^ a) & (sum ^ b) & signs &^ a`),
	pairDefect("pairs-second-order-of-the-first", "gemm_pairs_panels.go", `second[2*i] = uint8(pairsHalf/2 + i)`, `second[2*i] = uint8(i)`),
	pairDefect("pairs-without-a-second-order", "gemm_pairs_panels.go", `if orders = append(orders, first); first.More {`, `if orders = append(orders, first); first.More && len(orders) < 0 {`),
	pairDefect("pairs-behind-the-last-chunk", "gemm_pairs_panels.go", `if orders[i].More || i == len(orders)-1 {`, `if orders[i].More {`),
	pairDefect("pairs-of-the-next-chunk", "gemm_pairs_panels.go", `		if !orders[i].More {
			at +=`, `		if i >= 0 {
			at +=`),
	pairDefect("pairs-rows-without-zeros", "gemm_pairs_panels.go", `a.Op(asm.VMOVUPS, asm.Ptr(to, pairsHalf*pairRowBytes), zero, asm.L128)`, `a.Op(asm.VMOVUPS, asm.Ptr(to, pairsHalf*pairRowBytes-pairRowBytes), zero, asm.L128)`),
	pairDefect("pairs-in-one-room", "gemm_pairs.go", `asm.Ptr(gNextRoom, t.tile.Rows*PairsChunk)`, `asm.Ptr(gNextRoom, 0)`),
	pairDefect("pairs-added-thrice", "gemm_pairs.go", `t.Op(asm.VPSRLW, one, one, asm.Imm(15))`, `t.Op(asm.VPSRLW, one, one, asm.Imm(14))`),
	pairDefect("pairs-room-for-one-chunk", "gemm_format.go", `return 2 * t.Rows * PairsChunk`, `return t.Rows * PairsChunk`),
	pairRunDefect("pairs-of-the-first-batch", "gemm_pairs.go", `at := (batch%s.packedBatches()*s.kBlocks+block)*s.panels + panel`, `at := block*s.panels + panel + 0*batch`),
	pairRunDefect("pairs-for-any-weights", "gemm_pairs.go", `all.Load()-chunks.Load() > chunks.Load()/pairsShared`, `all.Load()-chunks.Load() > chunks.Load()*pairsShared`),
	pairRunDefect("pairs-of-steps", "gemm_plan.go", `chunk = x86.PairsSteps`, `chunk = 1`),
	pairRunDefect("pairs-read-as-words", "pack.go", `what += " in pairs"`, `what += ""`),
	pairRunDefect("pairs-of-unused-columns", "gemm_pairs.go", `rows[i].KeepColumns(cols)`, `rows[i].KeepColumns(16)`),
	pairRunDefect("pairs-whatever-the-limit", "gemm_pairs.go", `		return nil, 0, unlessFull(err)
	}
	err = s.eachPanel`, `		return nil, 0, err
	}
	err = s.eachPanel`),
	pairRunDefect("pairs-of-few-terms", "gemm_pairs.go", `3*whole(x86.PairsChunk) <= 4*whole(x86.GemmWords.Group())`, `whole(x86.PairsChunk) > 0`),
	pairRunDefect("pairs-in-the-first-run", "gemm_pairs.go", `int64(d.pairsFrom)`, `0*int64(d.pairsFrom)`),
	pairRunDefect("rows-of-all-batches-for-each-weight", "gemm_pairs.go", `s.rows * s.batch / s.packedBatches()`, `s.rows * s.batch`),
	pairRunDefect("pairs-never-in-a-later-run", "gemm_bind.go", `s.unpaired != nil && s.pairsDue(r, s.unpaired)`, `s.unpaired != nil && s.tasks() == 0 && s.pairsDue(r, s.unpaired)`),
	pairRunDefect("pairs-wait-under-a-limit", "gemm_pairs.go", `d.limit.Load() > 0 ||`, `d.limit.Load() < 0 ||`),
	pairRunDefect("rows-counted-as-bound", "gemm_bind.go", `s.packedB, s.foundB, s.pairB = made.mem, made.found, made.pairs`, `if s.packedB, s.foundB, s.pairB = made.mem, made.found, made.pairs; s.unpaired != nil {
		s.unpaired.Add(s.rowsOfEach())
	}`),
	pairRunDefect("weights-kept-beside-their-pairs", "pack.go", `find(plain).Drop()`, `find(plain)`),
}

// pairDefect is one in a file of the emitter, pairRunDefect in one of the device.
func pairDefect(name, file, text, planted string) Defect {
	return Defect{Name: name, File: "internal/emit/x86/" + file, Old: text, New: planted, Package: "internal/emit/x86", Run: "TestPair", Needs: machineCode}
}

func pairRunDefect(name, file, text, planted string) Defect {
	return Defect{Name: name, File: "internal/device/cpu/" + file, Old: text, New: planted, Package: "internal/device/cpu", Run: "TestGemmPairs", Needs: machineCode}
}
