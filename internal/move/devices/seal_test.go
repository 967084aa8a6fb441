package devices

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"claudemem/internal/memory"
)

func TestSheet(t *testing.T) {
	for range 100 {
		s := newSecret()
		sheet := s.words()
		got, err := parseWords(" " + strings.ToUpper(strings.Join(sheet, "\n")) + "\n")
		if err != nil || got != s {
			t.Fatalf("%v: %v", sheet, err)
		}
		sheet[3], sheet[4] = sheet[4], sheet[3]
		if other, err := parseWords(strings.Join(sheet, " ")); err == nil && other == s && sheet[3] != sheet[4] {
			t.Error("the order does not matter")
		}
	}
	for _, sheet := range []string{"", "rido", strings.Repeat("xxxx ", 24), strings.Repeat("rido ", 25)} {
		if _, err := parseWords(sheet); memory.CodeOf(err) != memory.CodeInvalid {
			t.Errorf("%q: %v", sheet, err)
		}
	}
	wrong := 0
	for range 1000 {
		sheet := newSecret().words()
		sheet[0] = newSecret().words()[0]
		if _, err := parseWords(strings.Join(sheet, " ")); err == nil {
			wrong++
		}
	}
	if wrong > 50 {
		t.Errorf("%d of 1000 wrong words pass the checksum", wrong)
	}
}

func TestPadded(t *testing.T) {
	for size := 1; size < 5_000_000; size += 1 + size/7 {
		if p := padded(size); p < size || float64(p) > 1.12*float64(size)+1 {
			t.Errorf("%d is padded to %d", size, p)
		}
	}
}

// TestRefusedEachByte: no file opens in which one bit of any byte is changed, that ends at any byte before its end, or goes on after it.
func TestRefusedEachByte(t *testing.T) {
	s := newSecret()
	c, err := newConfig(Place{Folder: "."}, "x")
	if err != nil {
		t.Fatal(err)
	}
	file, err := seal(s, c.key(), &Header{Memory: "m", Device: c.Device(), Epoch: 1, Number: 1, Live: []int{1}}, []memory.Shared{{Kind: "prompt", Key: "k", Gone: true}})
	if err != nil {
		t.Fatal(err)
	}
	if o, err := open(s, file); err != nil || o.Number != 1 {
		t.Fatalf("%v", err)
	}
	refused := func(what string, i int, file []byte) {
		if _, err := open(s, file); !errors.Is(err, errForeign) && memory.CodeOf(err) != memory.CodeInvalid {
			t.Errorf("%s %d: %v", what, i, err)
		}
	}
	for i := range file {
		changed := bytes.Clone(file)
		for bit := range 8 {
			changed[i] = file[i] ^ 1<<bit
			refused("byte", i, changed)
		}
		refused("cut at", i, file[:i])
	}
	refused("after", len(file), append(bytes.Clone(file), 0))
}

// FuzzOpen: no file makes open panic or read for ever.
func FuzzOpen(f *testing.F) {
	var s secret
	c, err := newConfig(Place{Folder: "."}, "x")
	if err != nil {
		f.Fatal(err)
	}
	file, err := seal(s, c.key(), &Header{Memory: "m", Device: c.Device(), Epoch: 1, Number: 1, Live: []int{1}}, []memory.Shared{{Kind: "prompt", Key: "k", Gone: true}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(file)
	f.Add(file[:len(file)/2])
	f.Fuzz(func(t *testing.T, content []byte) {
		if o, err := open(s, content); err == nil {
			_, _ = o.states()
		}
	})
}
