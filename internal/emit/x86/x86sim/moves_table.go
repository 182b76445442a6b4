package x86sim

import "slices"

var moveRows = slices.Concat(
	move("vmovups", "VEX|EVEX.0F.We0", "10", "11", 4, false),
	move("vmovupd", "VEX|EVEX.66.0F.We1", "10", "11", 8, false),
	move("vmovaps", "VEX|EVEX.0F.We0", "28", "29", 4, true),
	move("vmovapd", "VEX|EVEX.66.0F.We1", "28", "29", 8, true),
	move("vmovdqu", "VEX.F3.0F", "6F", "7F", 4, false),
	move("vmovdqa", "VEX.66.0F", "6F", "7F", 4, true),
	move("vmovdqu8", "EVEX.F2.0F.W0", "6F", "7F", 1, false),
	move("vmovdqu16", "EVEX.F2.0F.W1", "6F", "7F", 2, false),
	move("vmovdqu32", "EVEX.F3.0F.W0", "6F", "7F", 4, false),
	move("vmovdqu64", "EVEX.F3.0F.W1", "6F", "7F", 8, false),
	move("vmovdqa32", "EVEX.66.0F.W0", "6F", "7F", 4, true),
	move("vmovdqa64", "EVEX.66.0F.W1", "6F", "7F", 8, true),
	moveScalar("vmovss", "VEX|EVEX.F3.0F.We0", 4),
	moveScalar("vmovsd", "VEX|EVEX.F2.0F.We1", 8),
	[]opcode{
		{name: "vmovd", text: "VEX|EVEX.66.0F.W0 6E", memory: 4, do: func(m *machine, in *instr) { m.v[in.reg] = vec{m.gp(in, 4)} }},
		{name: "vmovq", text: "VEX|EVEX.66.0F.W1 6E", memory: 8, do: func(m *machine, in *instr) { m.v[in.reg] = vec{m.gp(in, 8)} }},
		{name: "vmovd", text: "VEX|EVEX.66.0F.W0 7E", memory: 4, do: func(m *machine, in *instr) { m.setGP(in, 4, m.v[in.reg][0]) }},
		{name: "vmovq", text: "VEX|EVEX.66.0F.W1 7E", memory: 8, do: func(m *machine, in *instr) { m.setGP(in, 8, m.v[in.reg][0]) }},
		{name: "vmovq", text: "VEX|EVEX.F3.0F.We1 7E", memory: 8, do: func(m *machine, in *instr) {
			x := m.v[in.rm][0]
			if in.memory {
				x = load(m.address(in), 8)
			}
			m.v[in.reg] = vec{x}
		}},
		{name: "vmovq", text: "VEX|EVEX.66.0F.We1 D6", memory: 8, do: func(m *machine, in *instr) {
			if in.memory {
				store(m.address(in), 8, m.v[in.reg][0])
				return
			}
			m.v[in.rm] = vec{m.v[in.reg][0]}
		}},
		{name: "vmovntps", text: "VEX|EVEX.0F.We0 2B /m", memory: full, elem: 4, do: stores(4, true)},
		{name: "vmovntdq", text: "VEX|EVEX.66.0F.We0 E7 /m", memory: full, elem: 4, do: stores(4, true)},
		{name: "vmovntdqa", text: "VEX|EVEX.66.0F38.We0 2A /m", memory: full, elem: 4, do: loads(4, true)},

		{name: "vmaskmovps", text: "VEX.66.0F38.W0 2C /m", memory: full, do: maskLoad(negative32)},
		{name: "vmaskmovps", text: "VEX.66.0F38.W0 2E /m", memory: full, do: maskStore(negative32)},
		{name: "vmaskmovpd", text: "VEX.66.0F38.W0 2D /m", memory: full, do: maskLoad(negative64)},
		{name: "vmaskmovpd", text: "VEX.66.0F38.W0 2F /m", memory: full, do: maskStore(negative64)},
		{name: "vpmaskmovd", text: "VEX.66.0F38.W0 8C /m", memory: full, do: maskLoad(negative32)},
		{name: "vpmaskmovd", text: "VEX.66.0F38.W0 8E /m", memory: full, do: maskStore(negative32)},
		{name: "vpmaskmovq", text: "VEX.66.0F38.W1 8C /m", memory: full, do: maskLoad(negative64)},
		{name: "vpmaskmovq", text: "VEX.66.0F38.W1 8E /m", memory: full, do: maskStore(negative64)},

		{name: "vmovhlps", text: "VEX|EVEX.0F.We0 12 /rr", do: func(m *machine, in *instr) { m.v[in.reg] = vec{m.v[in.rm][1], m.v[in.vvvv][1]} }},
		{name: "vmovlhps", text: "VEX|EVEX.0F.We0 16 /rr", do: func(m *machine, in *instr) { m.v[in.reg] = vec{m.v[in.vvvv][0], m.v[in.rm][0]} }},
		{name: "vmovshdup", text: "VEX|EVEX.F3.0F.We0 16", memory: full, elem: 4, do: pick4(func(i, _ int) int { return i | 1 })},
		{name: "vmovsldup", text: "VEX|EVEX.F3.0F.We0 12", memory: full, elem: 4, do: pick4(func(i, _ int) int { return i &^ 1 })},
		{name: "vmovmskps", text: "VEX.0F 50 /rr", do: signs(4)},
		{name: "vmovmskpd", text: "VEX.66.0F 50 /rr", do: signs(8)},
		{name: "vpmovmskb", text: "VEX.66.0F D7 /rr", do: signs(1)},

		{name: "vbroadcastss", text: "VEX|EVEX.66.0F38.W0 18", memory: 4, elem: 4, do: broadcast(4, 4)},
		{name: "vbroadcastsd", text: "VEX|EVEX.66.0F38.We1 19", memory: 8, elem: 8, do: broadcast(8, 8)},
		{name: "vpbroadcastb", text: "VEX|EVEX.66.0F38.W0 78", memory: 1, elem: 1, do: broadcast(1, 1)},
		{name: "vpbroadcastw", text: "VEX|EVEX.66.0F38.W0 79", memory: 2, elem: 2, do: broadcast(2, 2)},
		{name: "vpbroadcastd", text: "VEX|EVEX.66.0F38.W0 58", memory: 4, elem: 4, do: broadcast(4, 4)},
		{name: "vpbroadcastq", text: "VEX|EVEX.66.0F38.We1 59", memory: 8, elem: 8, do: broadcast(8, 8)},
		{name: "vpbroadcastb", text: "EVEX.66.0F38.W0 7A /rr", do: broadcastGP(1)},
		{name: "vpbroadcastw", text: "EVEX.66.0F38.W0 7B /rr", do: broadcastGP(2)},
		{name: "vpbroadcastd", text: "EVEX.66.0F38.W0 7C /rr", do: broadcastGP(4)},
		{name: "vpbroadcastq", text: "EVEX.66.0F38.W1 7C /rr", do: broadcastGP(8)},
		{name: "vbroadcastf128", text: "VEX.66.0F38.W0 1A /m", memory: 16, do: broadcast(16, 4)},
		{name: "vbroadcasti128", text: "VEX.66.0F38.W0 5A /m", memory: 16, do: broadcast(16, 4)},
		{name: "vbroadcastf32x4", text: "EVEX.66.0F38.W0 1A /m", memory: 16, elem: 4, do: broadcast(16, 4)},
		{name: "vbroadcasti32x4", text: "EVEX.66.0F38.W0 5A /m", memory: 16, elem: 4, do: broadcast(16, 4)},
		{name: "vbroadcastf64x4", text: "EVEX.66.0F38.W1 1B /m", memory: 32, elem: 8, do: broadcast(32, 8)},
		{name: "vbroadcasti64x4", text: "EVEX.66.0F38.W1 5B /m", memory: 32, elem: 8, do: broadcast(32, 8)},

		{name: "vgatherdps", text: "VEX|EVEX.66.0F38.W0 92 vsib", memory: 4, do: gather[int32, int32]()},
		{name: "vgatherdpd", text: "VEX|EVEX.66.0F38.W1 92 vsib", memory: 8, do: gather[int64, int32]()},
		{name: "vgatherqps", text: "VEX|EVEX.66.0F38.W0 93 vsib", memory: 4, do: gather[int32, int64]()},
		{name: "vgatherqpd", text: "VEX|EVEX.66.0F38.W1 93 vsib", memory: 8, do: gather[int64, int64]()},
		{name: "vpgatherdd", text: "VEX|EVEX.66.0F38.W0 90 vsib", memory: 4, do: gather[int32, int32]()},
		{name: "vpgatherdq", text: "VEX|EVEX.66.0F38.W1 90 vsib", memory: 8, do: gather[int64, int32]()},
		{name: "vpgatherqd", text: "VEX|EVEX.66.0F38.W0 91 vsib", memory: 4, do: gather[int32, int64]()},
		{name: "vpgatherqq", text: "VEX|EVEX.66.0F38.W1 91 vsib", memory: 8, do: gather[int64, int64]()},
		{name: "vscatterdps", text: "EVEX.66.0F38.W0 A2 vsib", memory: 4, do: scatter[int32, int32]()},
		{name: "vscatterdpd", text: "EVEX.66.0F38.W1 A2 vsib", memory: 8, do: scatter[int64, int32]()},
		{name: "vscatterqps", text: "EVEX.66.0F38.W0 A3 vsib", memory: 4, do: scatter[int32, int64]()},
		{name: "vpscatterdd", text: "EVEX.66.0F38.W0 A0 vsib", memory: 4, do: scatter[int32, int32]()},
		{name: "vpscatterdq", text: "EVEX.66.0F38.W1 A0 vsib", memory: 8, do: scatter[int64, int32]()},
		{name: "vpscatterqd", text: "EVEX.66.0F38.W0 A1 vsib", memory: 4, do: scatter[int32, int64]()},
		{name: "vpscatterqq", text: "EVEX.66.0F38.W1 A1 vsib", memory: 8, do: scatter[int64, int64]()},

		{name: "vinsertf128", text: "VEX.66.0F3A.W0 18 ib", memory: 16, do: insert(16, 4)},
		{name: "vinserti128", text: "VEX.66.0F3A.W0 38 ib", memory: 16, do: insert(16, 4)},
		{name: "vextractf128", text: "VEX.66.0F3A.W0 19 ib", memory: 16, do: extract(16, 4)},
		{name: "vextracti128", text: "VEX.66.0F3A.W0 39 ib", memory: 16, do: extract(16, 4)},
		{name: "vinsertf32x4", text: "EVEX.66.0F3A.W0 18 ib", memory: 16, do: insert(16, 4)},
		{name: "vinserti32x4", text: "EVEX.66.0F3A.W0 38 ib", memory: 16, do: insert(16, 4)},
		{name: "vinsertf64x4", text: "EVEX.66.0F3A.W1 1A ib", memory: 32, do: insert(32, 8)},
		{name: "vinserti64x4", text: "EVEX.66.0F3A.W1 3A ib", memory: 32, do: insert(32, 8)},
		{name: "vextractf32x4", text: "EVEX.66.0F3A.W0 19 ib", memory: 16, do: extract(16, 4)},
		{name: "vextracti32x4", text: "EVEX.66.0F3A.W0 39 ib", memory: 16, do: extract(16, 4)},
		{name: "vextractf64x4", text: "EVEX.66.0F3A.W1 1B ib", memory: 32, do: extract(32, 8)},
		{name: "vextracti64x4", text: "EVEX.66.0F3A.W1 3B ib", memory: 32, do: extract(32, 8)},
		{name: "vinsertps", text: "VEX|EVEX.66.0F3A.W0 21 ib", memory: 4, do: insertPS},
		{name: "vextractps", text: "VEX|EVEX.66.0F3A 17 ib", memory: 4, do: extractGP(4)},
		{name: "vpextrb", text: "VEX|EVEX.66.0F3A 14 ib", memory: 1, do: extractGP(1)},
		{name: "vpextrd", text: "VEX|EVEX.66.0F3A.W0 16 ib", memory: 4, do: extractGP(4)},
		{name: "vpextrq", text: "VEX|EVEX.66.0F3A.W1 16 ib", memory: 8, do: extractGP(8)},
		{name: "vpinsrb", text: "VEX|EVEX.66.0F3A 20 ib", memory: 1, do: insertGP(1)},
		{name: "vpinsrw", text: "VEX|EVEX.66.0F C4 ib", memory: 2, do: insertGP(2)},
		{name: "vpinsrd", text: "VEX|EVEX.66.0F3A.W0 22 ib", memory: 4, do: insertGP(4)},
		{name: "vpinsrq", text: "VEX|EVEX.66.0F3A.W1 22 ib", memory: 8, do: insertGP(8)},
	})

// gp and setGP are of a general register, or memory, beside a vector.
func (m *machine) gp(in *instr, bytes int) uint64 {
	if in.memory {
		return load(m.address(in), bytes)
	}
	return cut(m.r[in.rm&15], bytes)
}

func (m *machine) setGP(in *instr, bytes int, x uint64) {
	if in.memory {
		store(m.address(in), bytes, x)
		return
	}
	m.r[in.rm&15] = cut(x, bytes)
}
