package nn_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/nn"
)

func draw(t *testing.T, init nn.Initializer, seed int64, sizes ...int) []float64 {
	t.Helper()
	x := init(sinter.NewRand(sinter.Scalar(float64(seed))), sizes)
	if x.Err() != nil {
		t.Fatal(x.Err())
	}
	return values(t, x)
}

// moments are mean, standard deviation, and the share within half a deviation.
func moments(v []float64) (mean, std, core float64) {
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		std += (x - mean) * (x - mean) / float64(len(v))
	}
	std = math.Sqrt(std)
	for _, x := range v {
		if math.Abs(x-mean) < std/2 {
			core += 1 / float64(len(v))
		}
	}
	return mean, std, core
}

// TestInitializers checks mean, deviation and form of each distribution over
// 15,000 draws, within five standard errors.
func TestInitializers(t *testing.T) {
	const uniform, normal = 0.28868, 0.38292 // shares within half a deviation
	// Fans of [100, 50, 3]: in 150, out 300.
	for name, c := range map[string]struct {
		init            nn.Initializer
		mean, std, core float64
	}{
		"uniform":         {nn.Uniform(-1, 3), 1, 4 / math.Sqrt(12), uniform},
		"normal":          {nn.Normal(2, 0.5), 2, 0.5, normal},
		"kaiming uniform": {nn.KaimingUniform(0), 0, math.Sqrt(2. / 150), uniform},
		"linear default":  {nn.KaimingUniform(math.Sqrt(5)), 0, math.Sqrt(1. / 3 / 150), uniform},
		"kaiming normal":  {nn.KaimingNormal(0.5), 0, math.Sqrt(2 / 1.25 / 150), normal},
		"xavier uniform":  {nn.XavierUniform(2), 0, 2 * math.Sqrt(2./450), uniform},
		"xavier normal":   {nn.XavierNormal(1), 0, math.Sqrt(2. / 450), normal},
		// Cut at two deviations on both sides, a normal distribution has this deviation.
		"truncated": {nn.TruncatedNormal(1, 0.02, 0.96, 1.04), 1, 0.02 * 0.879626, 0.35291},
		"far cut":   {nn.TruncatedNormal(0, 0.02, -2, 2), 0, 0.02, normal},
	} {
		v := draw(t, c.init, 7, 100, 50, 3)
		mean, std, core := moments(v)
		n := math.Sqrt(float64(len(v)))
		if !(math.Abs(mean-c.mean) <= 5*c.std/n) || !(math.Abs(std/c.std-1) <= 5/n) || !(math.Abs(core-c.core) <= 5*0.5/n) {
			t.Errorf("%s: mean %v, deviation %v, %v within half of it; want %v, %v, %v", name, mean, std, core, c.mean, c.std, c.core)
		}
		if !slices.Equal(v, draw(t, c.init, 7, 100, 50, 3)) || slices.Equal(v, draw(t, c.init, 8, 100, 50, 3)) {
			t.Errorf("%s: seeds", name)
		}
	}
	tails := draw(t, nn.TruncatedNormal(0, 1, 1, 5), 3, 10000)
	if slices.Min(tails) < 1 || slices.Max(tails) > 5 {
		t.Errorf("truncated between %v and %v", slices.Min(tails), slices.Max(tails))
	}
	if mean, _, _ := moments(tails); !(math.Abs(mean-1.52513) <= 0.03) { // density(1) / (1 - distribution(1))
		t.Errorf("the tail beyond 1 has mean %v", mean)
	}
	for _, bad := range []nn.Initializer{nn.TruncatedNormal(0, 0, -1, 1), nn.TruncatedNormal(0, 1, 1, 1), nn.Orthogonal(1), nn.Normal(math.NaN(), 1)} {
		if x := bad(sinter.NewRand(sinter.Scalar(1)), []int{4}); x.Err() == nil && !math.IsNaN(values(t, x)[0]) {
			t.Error("no error")
		}
	}
}

func TestTruncatedNormalIsTheInverse(t *testing.T) {
	// The n-th of sorted draws lies where the distribution function says.
	v := draw(t, nn.TruncatedNormal(0, 1, -2, 2), 5, 20000)
	slices.Sort(v)
	for _, q := range []float64{0.001, 0.01, 0.1, 0.5, 0.9, 0.999} {
		lo := math.Erf(-2 / math.Sqrt2)
		want := math.Sqrt2 * math.Erfinv(lo-2*lo*q)
		density := math.Exp(-want*want/2) / math.Sqrt(2*math.Pi) / -lo
		if got := v[int(q*20000)]; !(math.Abs(got-want) <= 5*math.Sqrt(q*(1-q)/20000)/density) {
			t.Errorf("quantile %v is %v, want %v", q, got, want)
		}
	}
}

func TestOrthogonal(t *testing.T) {
	for _, sizes := range [][]int{{5, 5}, {3, 8}, {8, 3}, {64, 64}, {6, 2, 4}, {1, 1}} {
		for seed := range int64(3) {
			x := nn.Orthogonal(2)(sinter.NewRand(sinter.Scalar(float64(seed))), sizes).Cast(sinter.F64)
			rows, columns := sizes[0], 1
			for _, n := range sizes[1:] {
				columns *= n
			}
			x = x.Reshape(rows, columns)
			if rows > columns {
				x = x.T()
			}
			near(t, "squares", x.MatMul(x.T()), sinter.Eye(sinter.F64, x.Dim(0)).Mul(sinter.Scalar(4)), 1e-5)
		}
	}
}

// What layers begin with: the largest value of each uniform distribution, or
// the value everywhere.
func TestLayersBeginAsPyTorch(t *testing.T) {
	padding := 1
	net := &struct {
		Linear nn.Linear             `weight:"linear"`
		Conv   nn.Conv2d             `weight:"conv"`
		Up     nn.ConvTranspose2d    `weight:"up"`
		GRU    nn.GRU                `weight:"gru"`
		Attend nn.MultiHeadAttention `weight:"attend"`
		Norm   nn.LayerNorm          `weight:"norm"`
		Words  nn.Embedding          `weight:"words"`
	}{nn.Linear{In: 100, Out: 200}, nn.Conv2d{In: 4, Out: 100, Kernel: []int{5}, Groups: 2}, nn.ConvTranspose2d{In: 100, Out: 40, Kernel: []int{5}, Groups: 2}, nn.GRU{Recurrent: nn.Recurrent{In: 100, Hidden: 64}},
		nn.MultiHeadAttention{Width: 64, Heads: 4}, nn.LayerNorm{Width: 8}, nn.Embedding{Count: 200, Width: 50, Padding: &padding}}
	if err := nn.Init(net, nn.Options{}); err != nil {
		t.Fatal(err)
	}
	bound := map[string]float64{"linear.weight": 0.1, "linear.bias": 0.1, "conv.weight": 1 / math.Sqrt(50), "conv.bias": 1 / math.Sqrt(50),
		"up.weight": 1 / math.Sqrt(500), "up.bias": 1 / math.Sqrt(500),
		"gru.weight_ih_l0": 0.125, "gru.bias_hh_l0": 0.125, "attend.in_proj_weight": math.Sqrt(6. / 256), "attend.in_proj_bias": 0,
		"attend.out_proj.weight": 0.125, "attend.out_proj.bias": 0, "norm.weight": 1, "norm.bias": 0}
	for _, v := range nn.Params(net) {
		want, ok := bound[v.Name()]
		if !ok {
			continue
		}
		delete(bound, v.Name())
		x := values(t, v.Tensor())
		for i := range x {
			x[i] = math.Abs(x[i])
		}
		if got := slices.Max(x); !(got <= want*(1+1e-6) && got >= want*0.93) {
			t.Errorf("%s reaches %v, want %v", v.Name(), got, want)
		}
	}
	if len(bound) > 0 {
		t.Errorf("no %v", bound)
	}
	words := values(t, net.Words.Weight.Tensor())
	if _, std, _ := moments(words); !(math.Abs(std-1) <= 0.05) {
		t.Errorf("embedding's deviation %v", std)
	}
	if slices.Max(words[50:100]) != 0 || slices.Min(words[50:100]) != 0 {
		t.Error("the padding's vector is not 0")
	}
}

func TestInitializerByName(t *testing.T) {
	l := &nn.Linear{In: 2, Out: 2}
	err := nn.Init(l, nn.Options{Initializer: func(name string, sizes []int) nn.Initializer {
		if name == "bias" {
			return nn.Constant(3)
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if v := values(t, l.Bias.Tensor()); !slices.Equal(v, []float64{3, 3}) || values(t, l.Weight.Tensor())[0] == 3 {
		t.Errorf("bias %v", v)
	}
	wrong := func(string, []int) nn.Initializer {
		return func(*sinter.Rand, []int) sinter.Tensor { return sinter.Of([]float32{1}, 1) }
	}
	if err := nn.Init(&nn.Linear{In: 2, Out: 2}, nn.Options{Initializer: wrong}); err == nil {
		t.Error("an initializer of another shape")
	}
	if _, err := sinter.Eval(context.Background(), l.Weight.Tensor()); err != nil {
		t.Error(err)
	}
}
