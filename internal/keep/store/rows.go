package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"encoding/json"

	"claudemem/internal/keep/sqlite"
)

// querier is a pool or a transaction that reads.
type querier = sqlite.Querier

// each calls row for each row that a query selects. An error of row ends it.
func each(ctx context.Context, q queryOnly, row func(scan sqlite.Scan) error, query string, args ...any) error {
	if moment, ok := q.(*snapshot); ok {
		return moment.each(ctx, row, query, args)
	}
	return sqlite.Rows(q.QueryContext(ctx, query, args...)).Each(row) //nolint:rowserrcheck // Each checks it
}

// queryOnly is a querier or the writer's transaction.
type queryOnly interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// all returns the rows that a query selects; fields says where a row's columns go.
func all[T any](ctx context.Context, q queryOnly, fields func(*T) []any, query string, args ...any) ([]T, error) {
	var list []T
	err := each(ctx, q, func(scan sqlite.Scan) error {
		list = append(list, *new(T))
		return scan(fields(&list[len(list)-1])...)
	}, query, args...)
	if err != nil {
		return nil, err
	}
	return list, nil
}

// value returns the only column of the first row that a query selects;
// sql.ErrNoRows when there is none.
func value[T any](ctx context.Context, q querier, query string, args ...any) (T, error) {
	var v T
	err := q.QueryRowContext(ctx, query, args...).Scan(&v)
	return v, err
}

// pairs returns the rows of a query, a key and a value each, as a map: with an error, those
// before it.
func pairs[K comparable, V any](ctx context.Context, q queryOnly, query string, args ...any) (map[K]V, error) {
	found := map[K]V{}
	err := each(ctx, q, func(scan sqlite.Scan) error {
		var key K
		var value V
		err := scan(&key, &value)
		if err == nil {
			found[key] = value
		}
		return err
	}, query, args...)
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

func (p pool) mismatched() { p.mismatch() }

// inKeeping returns the result of a transaction that doesn't touch sessions or
// tombstones, the zero value when it failed.
func inKeeping[T any](ctx context.Context, s *Store, what string, write func(*tx) (T, error)) (T, error) {
	return inJob(ctx, s, what, job{keepsSessions: true}, write)
}

// inJob returns the result of write, run as the job j; the zero value when it failed.
func inJob[T any](ctx context.Context, s *Store, what string, j job, write func(*tx) (T, error)) (T, error) {
	var result T
	j.run = func(t *tx) (err error) {
		result, err = write(t)
		return err
	}
	if err := s.write(ctx, what, j); err != nil {
		return *new(T), err
	}
	return result, nil
}

// jsonList encodes items as a JSON array: for a column, or for json_each, which
// keeps the statement constant. Items are of types that always encode.
func jsonList[T any](items []T) string {
	if items == nil {
		items = []T{} // not null
	}
	list, _ := encode(items)
	return list
}

// sqlLimit returns the LIMIT for a limit that is 0 for none.
func sqlLimit(limit int) int {
	if limit <= 0 {
		return -1
	}
	return limit
}

// listColumn scans a JSON array into a slice; a damaged one is empty, as one bad
// row must not hide the rest.
type listColumn[T any] struct{ items *[]T }

// plain returns the place of a column that is stored as it is.
func plain[T any](place *T) any { return place }

// toList returns the place of a column that jsonList has encoded. What is read may be packed.
func toList[T any](items *[]T) any { return listColumn[T]{items} }

// Value implements driver.Valuer.
func (c listColumn[T]) Value() (driver.Value, error) { return jsonList(*c.items), nil }

// Scan implements sql.Scanner.
func (c listColumn[T]) Scan(column any) error {
	*c.items = nil
	var items []T
	if json.Unmarshal([]byte(sqlite.Unpack(column)), &items) == nil && len(items) > 0 {
		*c.items = items
	}
	return nil
}

// packedColumn scans a text that sqlite.Pack has made; a damaged one is empty.
type packedColumn struct{ text *string }

// toText returns the place of a column with a packed text.
func toText(text *string) any { return packedColumn{text} }

// Value implements driver.Valuer.
func (c packedColumn) Value() (driver.Value, error) { return sqlite.Pack(*c.text), nil }

// Scan implements sql.Scanner.
func (c packedColumn) Scan(column any) error {
	*c.text = sqlite.Unpack(column)
	return nil
}

// packedListColumn is a listColumn that is packed.
type packedListColumn struct{ listColumn[string] }

// toPackedList returns the place of a column with a packed list.
func toPackedList(items *[]string) any { return packedListColumn{listColumn[string]{items}} }

// Value implements driver.Valuer.
func (c packedListColumn) Value() (driver.Value, error) { return sqlite.Pack(jsonList(*c.items)), nil }

// optionalColumn has NULL for the zero value.
type optionalColumn[T ~int64] struct{ value *T }

// toOptional returns the place of a column in which NULL stands for the zero value.
func toOptional[T ~int64](value *T) any { return optionalColumn[T]{value} }

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

// toHash returns the place of a column with a hash.
func toHash(digits *string) any { return hashColumn{digits} }

// Value implements driver.Valuer.
func (c hashColumn) Value() (driver.Value, error) { return hashArg(*c.digits), nil }

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

// hashArg returns the argument for a column that has a hash, given by its digits, as bytes; one
// without digits is an empty text.
func hashArg(digits string) any {
	if bytes, err := hex.DecodeString(digits); err == nil && len(bytes) > 0 {
		return bytes
	}
	return digits
}

// column returns the only column that a query selects.
func column[T any](ctx context.Context, q queryOnly, query string, args ...any) ([]T, error) {
	return all(ctx, q, func(value *T) []any { return []any{value} }, query, args...)
}

// orNull returns the argument for a column in which NULL stands for the zero value.
func orNull[T ~int64 | ~string](value T) any {
	if value == *new(T) {
		return nil
	}
	return value
}
