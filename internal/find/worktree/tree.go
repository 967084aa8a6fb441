package worktree

import (
	"cmp"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"claudemem/internal/memory"
)

const (
	// gitTime bounds the time of all git calls for one question: the host waits for it.
	gitTime = 300 * time.Millisecond
	// answerLife is how long git's answer is cached. A merge moves HEAD and so changes
	// the question; a commit on the record's branch, or its removal, changes refState.
	// Other changes (a branch renamed below a directory) show after this time.
	answerLife = 10 * time.Second
	// restAfter is the pause for a repository in which git was too slow.
	restAfter = time.Minute

	// maxAnswers and maxSums bound the caches; an entry has about 200 bytes.
	maxAnswers = 4096
	maxSums    = 4096
	// maxOutlines bounds the cached symbols; an entry has some 10 KB.
	maxOutlines = 128
	// atOnce bounds the calls that run at the same time: a file system that hangs
	// blocks so many goroutines at most.
	atOnce = 4
)

// Options shape a Tree. The zero value of a field takes its default.
type Options struct {
	// Git finds the program; default: on the PATH.
	Git func() (string, error)
	// GitTime bounds the time of git for one question; default 300 ms.
	GitTime time.Duration
	// Slack is added to GitTime, for tests.
	Slack time.Duration
	// Clock tells the time; default time.Now.
	Clock func() time.Time
}

// Tree implements recall.WorkTree. It is safe for concurrent use. No process or open
// file outlives a call.
type Tree struct {
	opts         Options
	files, gits  chan struct{} // semaphores of capacity atOnce; a call waits for a place until its context ends
	mu           sync.Mutex
	sums         map[fileKey]sum
	outlines     map[fileKey]outlined // by the hash of the file and its path
	answers      map[question]answer
	restingUntil map[string]time.Time // by root
}

// New makes a Tree.
func New(opts Options) *Tree {
	if opts.Git == nil {
		opts.Git = gitOnPath
	}
	opts.GitTime = cmp.Or(opts.GitTime, gitTime) + opts.Slack
	opts.Clock = memory.ClockOr(opts.Clock)
	return &Tree{
		opts:         opts,
		files:        make(chan struct{}, atOnce),
		gits:         make(chan struct{}, atOnce),
		sums:         map[fileKey]sum{},
		outlines:     map[fileKey]outlined{},
		answers:      map[question]answer{},
		restingUntil: map[string]time.Time{},
	}
}

// gitOnPath returns the absolute path of git; it never finds a program in the
// current directory.
func gitOnPath() (string, error) {
	path, err := exec.LookPath("git")
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}
