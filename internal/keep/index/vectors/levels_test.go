package vectors

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// randomVector returns a vector of length 1.
func randomVector(r *rand.Rand, dims int) []float32 {
	v := make([]float32, dims)
	square := 0.0
	for i := range v {
		v[i] = float32(r.NormFloat64())
		square += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(square))
	}
	return v
}

// TestLevelsStayTheSame: whoever changes what a vector becomes in the file changes magic too.
func TestLevelsStayTheSame(t *testing.T) {
	v := make([]float32, 128)
	for i := range v {
		v[i] = float32(i*i%17) - 8
	}
	out := make([]byte, len(v)/2)
	scale := quantise(out, v)
	if got, want := fmt.Sprintf("%.4f %x", scale, out[:16]), "0.0815 cd0a054c33c450a0dcac50c034430c05"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestLargestNumbers: no sum of a turn is infinite.
func TestLargestNumbers(t *testing.T) {
	v := make([]float32, 100)
	for i := range v {
		v[i] = math.MaxFloat32
	}
	for _, x := range newCoder(len(v)).turned(v) {
		if x-x != 0 {
			t.Fatalf("got %f", x)
		}
	}
}

// TestRounded: the product with itself is 1, those with others are off by little and without
// a mean error, and the signs are those of the numbers.
func TestRounded(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for dims, most := range map[int]float64{64: .012, 128: .009, 301: .006, 768: .004} {
		const n = 400
		var mean, square float64
		query := randomVector(r, dims)
		products := productsOf(query)
		for range n {
			v := randomVector(r, dims)
			numbers := make([]byte, (dims+1)/2)
			scale := quantise(numbers, v)
			if own := productsOf(v).with(numbers) * scale; math.Abs(float64(own)-1) > 1e-5 {
				t.Errorf("%d numbers: the product with itself is %f", dims, own)
			}
			want := 0.0
			for i, x := range v {
				want += float64(x) * float64(query[i])
				if got, want := signsOf(numbers[i/64*32:min(len(numbers), i/64*32+32)])>>(4*(i%16)+i%64/16)&1 == 1, x < 0; got != want {
					t.Fatalf("%d numbers: sign %d is %v", dims, i, got)
				}
			}
			off := float64(products.with(numbers)*scale) - want
			mean += off / n
			square += off * off / n
		}
		deviation := math.Sqrt(square)
		if deviation > most || math.Abs(mean) > 3*deviation/math.Sqrt(n) {
			t.Errorf("%d numbers: off by %.4f, want %.4f at most, in the mean by %.4f", dims, deviation, most, mean)
		}
	}
}

// TestLimitOf: exactly the wanted largest are taken, of equal ones any.
func TestLimitOf(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		numbers := make([]int32, 2+r.IntN(400))
		spread := 1 + r.IntN(1<<r.IntN(20))
		for i := range numbers {
			numbers[i] = int32(r.IntN(spread) - spread/2)
		}
		wanted := 1 + r.IntN(len(numbers)-1)
		limit, next, spare := limitOf(numbers, wanted)
		sure, others := 0, 0
		for _, x := range numbers {
			if x >= next {
				sure++
			} else if x >= limit {
				others++
			}
		}
		if sure+spare != wanted || others < spare || spare < 1 {
			t.Fatalf("wanted %d of %d: %d above, %d of %d at the limit", wanted, len(numbers), sure, spare, others)
		}
	}
}
