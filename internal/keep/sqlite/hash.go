package sqlite

import (
	"crypto/sha256"
	"database/sql/driver"
	"encoding/binary"
	"math"

	sqlite "modernc.org/sqlite"
)

// The SQL functions that package store's schema uses, in its triggers too: a program without
// them cannot write to these tables.
//
//	record_hash(seed, column...)   seed XOR the hash of the columns, an integer
//	record_hashes(column...)       the hashes of all rows of a group, joined by XOR; 0 for none
//
// The hash is the first 64 bits of a SHA-256 over the columns with their types. A number is
// the same as an integer and as a real.
func init() {
	sqlite.MustRegisterFunction("record_hash", &sqlite.FunctionImpl{
		NArgs: -1, Deterministic: true, VolatileArgs: true,
		Scalar: func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
			seed, _ := args[0].(int64)
			return seed ^ hashColumns(args[1:]), nil
		},
	})
	sqlite.MustRegisterFunction("record_hashes", &sqlite.FunctionImpl{
		NArgs: -1, Deterministic: true, VolatileArgs: true,
		MakeAggregate: func(sqlite.FunctionContext) (sqlite.AggregateFunction, error) { return new(joinedHashes), nil },
	})
}

// joinedHashes is the state of record_hashes.
type joinedHashes struct{ hash int64 }

// Step implements the driver's AggregateFunction.
func (j *joinedHashes) Step(_ *sqlite.FunctionContext, args []driver.Value) error {
	j.hash ^= hashColumns(args)
	return nil
}

// WindowInverse implements the driver's AggregateFunction.
func (j *joinedHashes) WindowInverse(ctx *sqlite.FunctionContext, args []driver.Value) error {
	return j.Step(ctx, args)
}

// WindowValue implements the driver's AggregateFunction.
func (j *joinedHashes) WindowValue(*sqlite.FunctionContext) (driver.Value, error) { return j.hash, nil }

// Final implements the driver's AggregateFunction.
func (j *joinedHashes) Final(*sqlite.FunctionContext) {}

// hashColumns returns the hash of the columns of a row. Each begins with its type and, if it
// has bytes, their number.
func hashColumns(columns []driver.Value) int64 {
	buffer := make([]byte, 0, 1024)
	for _, c := range columns {
		switch v := c.(type) {
		case int64:
			buffer = appendNumber(buffer, 'i', uint64(v))
		case float64:
			if whole := int64(v); float64(whole) == v {
				buffer = appendNumber(buffer, 'i', uint64(whole))
			} else {
				buffer = appendNumber(buffer, 'f', math.Float64bits(v))
			}
		case string:
			buffer = append(appendNumber(buffer, 't', uint64(len(v))), v...)
		case []byte:
			buffer = append(appendNumber(buffer, 'b', uint64(len(v))), v...)
		default:
			buffer = append(buffer, 'n')
		}
	}
	sum := sha256.Sum256(buffer)
	return int64(binary.BigEndian.Uint64(sum[:]))
}

// appendNumber appends the kind of a value and a number of 8 bytes.
func appendNumber(b []byte, kind byte, n uint64) []byte {
	return binary.BigEndian.AppendUint64(append(b, kind), n)
}
