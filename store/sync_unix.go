//go:build unix

package store

import (
	"errors"
	"os"
)

// syncDirectory makes the name of a new file in dir durable.
func syncDirectory(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
