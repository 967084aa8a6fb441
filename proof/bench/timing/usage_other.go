//go:build !unix

package timing

import (
	"os"
	"time"
)

// CPU is not known here.
func CPU() time.Duration { return 0 }

// Peak is not known.
func Peak(*os.ProcessState) int64 { return 0 }
