package loop

// turnClasses64 is turnClasses for f64: |X| is below 2^150, c has 270 bits, and
// no f64 comes closer to a multiple of a quarter turn than 2^-64 turns.
var turnClasses64 = []turnClass{
	{0, 1, [5]float64{0x1.45f306dc9c883p-3, -0x1.6b01ec5417056p-57, -0x1.6447e493ad4cep-111, 0x1.e21c820ff28b2p-165, -0x1.508510ea79237p-220}},
	{0x1p150, 0x1p-98, [5]float64{-0x1.596447e493ad5p-5, 0x1.93c439041fe51p-60, 0x1.8eaf7aef1586ep-114, -0x1.b7238b7b645a4p-169, 0x1.924bba8274648p-230}},
	{0x1p248, 0x1p-196, [5]float64{-0x1.ae9c5421443aap-6, 0x1.b7246e3a424ddp-62, 0x1.700324977504fp-117, -0x1.cdbc603c429c7p-171, 0x1.894d39f74411bp-225}},
	{0x1p346, 0x1p-294, [5]float64{0x1.26e9700324977p-3, 0x1.413a32439fc3cp-57, -0x1.4e34ed658c117p-112, -0x1.f7282b4512edfp-166, 0x1.d338e04d68bfp-221}},
	{0x1p444, 0x1p-392, [5]float64{-0x1.e214e34ed658cp-2, -0x1.177dca0ad144cp-58, 0x1.213a671c09ad1p-112, 0x1.f7e413991d63ap-166, -0x1.f2b3182d8dee8p-220}},
	{0x1p542, 0x1p-490, [5]float64{-0x1.12edec598e3f6p-2, -0x1.4ba081bec66e3p-56, 0x1.8e60d4ce7d272p-110, 0x1.17e2ef7e4a0ecp-166, 0x1.ff897ffde0598p-220}},
	{0x1p640, 0x1p-588, [5]float64{0x1.1d639835339f5p-2, -0x1.8dee81d1081b6p-56, 0x1.d8ffc4bffef03p-113, -0x1.9fc04343b9d29p-168, -0x1.f592e092c9813p-222}},
	{0x1p738, 0x1p-686, [5]float64{-0x1.b5f13801da001p-2, 0x1.e05980fef2f12p-56, -0x1.d297d64b824b2p-110, -0x1.8130d834f648bp-164, -0x1.738132c3402bap-221}},
	{0x1p836, 0x1p-784, [5]float64{-0x1.dce94beb25c12p-3, -0x1.64c0986c1a7b2p-57, -0x1.161738132c34p-111, -0x1.5d28ad8453814p-166, -0x1.a0e84c2f8c608p-222}},
	{0x1p934, 0x1p-882, [5]float64{0x1.36e9e8c7ecd3dp-5, -0x1.00ae9456c229cp-59, -0x1.41a0e84c2f8c6p-116, -0x1.0eb5ada2b2809p-173, -0x1.0277039517bd5p-227}},
}

// sinTurns64 is sinTurns without multiply-adds: the first 26 bits of r times 6.25
// are exact.
func sinTurns64(r, lo real, quarter whole) real {
	const tau = 0x1.921fb54442d18p2
	s := r.times(r)
	p := s.poly(0x1.0fdaa22168c23p-5, -0x1.4abbce625be51p5, 0x1.466bc6775a776p6, -0x1.32d2cce5dadbap6, 0x1.50783415564b6p5, -0x1.e306a8908ebcap3, 0x1.e879e8d7666ap1, -0x1.4b575c4e19778p-1)
	h := r.halves()
	rest := h.lo.times(double(6.25)).plus(r.times(p).plus(lo.times(double(tau))))
	sin := h.hi.times(double(6.25)).plus(rest)
	cos := double(1).plus(s.times(s.poly(-0x1.3bd3cc9be45dep4, 0x1.03c1f081b5a53p6, -0x1.55d3c7e3c015fp6, 0x1.e1f506761a53cp5, -0x1.a6d1e29edab1ep4, 0x1.f9c50a4a87f33p2, -0x1.b0540ac4e079cp0)))
	return quarter.turn(sin, cos)
}

// atan64 turns by nothing, pi/4 or pi/2: atan(a) = base + atan(z) with z = a,
// (a-1)/(a+1) or -1/a, below 0.6.
func atan64(x real) real {
	const low, high = 0.6, 0x1.aaaaaaaaaaaabp0 // 5/3
	a := x.abs()
	below, above := a.less(double(low)), double(high).less(a)
	choose := func(first, second, third real) real { return below.pick(first, above.pick(third, second)) }
	one := double(1)
	z := choose(a, a.minus(one), double(-1)).over(choose(one, a.plus(one), a))
	base := choose(double(0), double(0x1.921fb54442d18p-1), double(0x1.921fb54442d18p0))
	baseLo := choose(double(0), double(0x1.1a62633145c07p-55), double(0x1.1a62633145c07p-54))
	s := z.times(z)
	y := z.times(s).times(s.poly(-0x1.5555555555541p-2, 0x1.999999999711bp-3, -0x1.24924923afe5ap-3, 0x1.c71c7176f5a27p-4, -0x1.745d0ed57039p-4, 0x1.3b131d625ce39p-4, -0x1.110a1fd06b9dp-4, 0x1.e16b64a3019bdp-5, -0x1.ac4b8af77c7edp-5, 0x1.791e857200fdcp-5, -0x1.38ec241b1a383p-5, 0x1.bbb101fbc87edp-6, -0x1.c68d192da98e2p-7, 0x1.e0dace6c124f3p-9))
	return base.plus(z.plus(y.plus(baseLo))).signed(x)
}
