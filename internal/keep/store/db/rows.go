package db

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"encoding/json"

	"claudemem/internal/keep/sqlite"
)

// Encode is json.Marshal without the escapes for HTML, as a string.
func Encode(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), err
}

// Querier is a pool or a transaction that reads.
type Querier = sqlite.Querier

// Each calls row for each row that a query selects. An error of row ends it and is returned;
// sqlite.ErrStop ends it without an error.
func Each(ctx context.Context, q QueryOnly, row func(scan sqlite.Scan) error, query string, args ...any) error {
	switch q := q.(type) {
	case *snapshot:
		return q.each(ctx, row, query, args)
	case pool:
		return q.each(ctx, row, query, args)
	}
	return sqlite.Rows(q.QueryContext(ctx, query, args...)).Each(row) //nolint:rowserrcheck // Each checks it
}

// Select returns the rows that a query selects, for a loop over them. Their error goes to err.
func Select(ctx context.Context, q QueryOnly, err *error, query string, args ...any) sqlite.Selection {
	return sqlite.Select(err, func(row func(sqlite.Scan) error) error { return Each(ctx, q, row, query, args...) })
}

// QueryOnly is a Querier or the writer's transaction.
type QueryOnly = sqlite.QueryOnly

// All returns the rows that a query selects, nil for none and with an error; fields says where
// a row's columns go.
func All[T any](ctx context.Context, q QueryOnly, fields func(*T) []any, query string, args ...any) ([]T, error) {
	var list []T
	err := Each(ctx, q, func(scan sqlite.Scan) error {
		list = append(list, *new(T))
		return scan(fields(&list[len(list)-1])...)
	}, query, args...)
	if err != nil {
		return nil, err
	}
	return list, nil
}

// Value returns the only column of the first row that a query selects;
// sql.ErrNoRows when there is none.
func Value[T any](ctx context.Context, q Querier, query string, args ...any) (T, error) {
	var v T
	err := q.QueryRowContext(ctx, query, args...).Scan(&v)
	return v, err
}

// Pairs returns the rows of a query, a key and a value each, as a map: with an error, those
// before it.
func Pairs[K comparable, V any](ctx context.Context, q QueryOnly, query string, args ...any) (_ map[K]V, err error) {
	found := map[K]V{}
	var key K
	var value V
	for range Select(ctx, q, &err, query, args...).Into(&key, &value) {
		found[key] = value
	}
	return found, err
}

// pool is the pool of connections that read. mismatch is the option Mismatched.
type pool struct {
	*sql.DB
	mismatch func()
	repeated *repeated
}

func newPool(db *sql.DB, opts Options) pool { return pool{db, opts.Mismatched, newRepeated(db)} }

// Close closes the connections.
func (p pool) Close() error {
	p.repeated.close()
	return p.DB.Close()
}

// Mismatched tells the owner of the store that a record is not as it was written.
func (p pool) Mismatched() { p.mismatch() }

// InKeeping returns the result of a transaction that doesn't touch sessions or
// tombstones, the zero value when it failed.
func InKeeping[T any](ctx context.Context, s *DB, what string, write func(*Tx) (T, error)) (T, error) {
	return InJob(ctx, s, what, Job{KeepsSessions: true}, write)
}

// InJob returns the result of write, run as the job j; the zero value when it failed.
func InJob[T any](ctx context.Context, s *DB, what string, j Job, write func(*Tx) (T, error)) (T, error) {
	var result T
	j.Run = func(t *Tx) {
		var err error
		result, err = write(t)
		t.Fail(err)
	}
	if err := s.Write(ctx, what, j); err != nil {
		return *new(T), err
	}
	return result, nil
}

// JSONList encodes items as a JSON array: for a column, or for json_each, which
// keeps the statement constant. Items are of types that always encode.
func JSONList[T any](items []T) string {
	if items == nil {
		items = []T{} // not null
	}
	list, _ := Encode(items)
	return list
}

// SQLLimit returns the LIMIT for a limit that is 0 for none. To plan by the number, SQLite compiles
// "LIMIT ?" once more whenever it is bound, the prepared ones too: what runs often has a constant, or
// "LIMIT +?", which is no plain number to SQLite.
func SQLLimit(limit int) int {
	if limit <= 0 {
		return -1
	}
	return limit
}

// listColumn scans a JSON array into a slice; a damaged one is empty, as one bad
// row must not hide the rest.
type listColumn[T any] struct{ items *[]T }

// Plain returns the place of a column that is stored as it is.
func Plain[T any](place *T) any { return place }

// ToList returns the place of a column that JSONList has encoded. What is read may be packed;
// an empty list is read as nil.
func ToList[T any](items *[]T) any { return listColumn[T]{items} }

// Value implements driver.Valuer.
func (c listColumn[T]) Value() (driver.Value, error) { return JSONList(*c.items), nil }

// Scan implements sql.Scanner.
func (c listColumn[T]) Scan(column any) error {
	*c.items = nil
	var items []T
	if json.Unmarshal([]byte(sqlite.Unpack(column)), &items) == nil && len(items) > 0 {
		*c.items = items
	}
	return nil
}

// PackedColumn scans a text that sqlite.Pack has made; a damaged one is empty.
type PackedColumn struct{ text *string }

// ToText returns the place of a column with a packed text.
func ToText(text *string) any { return PackedColumn{text} }

// Value implements driver.Valuer.
func (c PackedColumn) Value() (driver.Value, error) { return sqlite.Pack(*c.text), nil }

// Scan implements sql.Scanner.
func (c PackedColumn) Scan(column any) error {
	*c.text = sqlite.Unpack(column)
	return nil
}

// packedListColumn is a listColumn that is packed.
type packedListColumn struct{ listColumn[string] }

// ToPackedList returns the place of a column with a packed list.
func ToPackedList(items *[]string) any { return packedListColumn{listColumn[string]{items}} }

// Value implements driver.Valuer.
func (c packedListColumn) Value() (driver.Value, error) { return sqlite.Pack(JSONList(*c.items)), nil }

// optionalColumn has NULL for the zero value.
type optionalColumn[T ~int64] struct{ value *T }

// ToOptional returns the place of a column in which NULL stands for the zero value.
func ToOptional[T ~int64](value *T) any { return optionalColumn[T]{value} }

// Value implements driver.Valuer.
func (c optionalColumn[T]) Value() (driver.Value, error) {
	return sql.NullInt64{Int64: int64(*c.value), Valid: *c.value != 0}.Value()
}

// Scan implements sql.Scanner.
func (c optionalColumn[T]) Scan(column any) error {
	var n sql.NullInt64
	err := n.Scan(column)
	*c.value = T(n.Int64)
	return err
}

// hashColumn has the bytes of a hash that is given by its digits.
type hashColumn struct{ digits *string }

// ToHash returns the place of a column with a hash.
func ToHash(digits *string) any { return hashColumn{digits} }

// Value implements driver.Valuer.
func (c hashColumn) Value() (driver.Value, error) { return HashArg(*c.digits), nil }

// Scan implements sql.Scanner.
func (c hashColumn) Scan(column any) error {
	switch column := column.(type) {
	case []byte:
		*c.digits = hex.EncodeToString(column)
	case string: // of a schema before 6, or damaged
		*c.digits = hex.EncodeToString([]byte(column))
	default:
		*c.digits = ""
	}
	return nil
}

// HashArg returns the argument for a column that has a hash, given by its hex digits: its bytes.
// What is not hex is stored as the text that it is, "" for no hash.
func HashArg(digits string) any {
	if bytes, err := hex.DecodeString(digits); err == nil && len(bytes) > 0 {
		return bytes
	}
	return digits
}

// Column returns the only column that a query selects.
func Column[T any](ctx context.Context, q QueryOnly, query string, args ...any) ([]T, error) {
	return All(ctx, q, func(value *T) []any { return []any{value} }, query, args...)
}

// OrNull returns the argument for a column in which NULL stands for the zero value.
func OrNull[T ~int64 | ~string](value T) any {
	if value == *new(T) {
		return nil
	}
	return value
}
