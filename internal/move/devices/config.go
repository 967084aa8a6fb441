package devices

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"claudemem/internal/leaf/atomicfile"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/memory"
	"claudemem/internal/move/joined"
)

// File is the file in the data directory with the keys: it is in no backup and no export.
var File = &joined.File{Name: "devices.json", Mend: "`claude-mem sync leave`, then `claude-mem sync join DIR` with the sheet of words",
	Absent: memory.Errorf(memory.CodeNotFound, "this memory is on one device").WithHint("`claude-mem sync init DIR` shares it by a folder, `claude-mem sync join DIR` joins one")}

// Config says what a device shares its memory by.
type Config struct {
	Memory string `json:"memory"`
	Folder string `json:"folder"`
	// Remote is the address of the git repository by which the folder travels, "" if something else synchronises it.
	Remote string `json:"remote,omitempty"`
	// Label is what people call the device.
	Label string `json:"label"`
	// Seed is that of the device's key, in hex.
	Seed string `json:"seed"`
	// Epochs are the secrets, the last one in use.
	Epochs []Epoch `json:"epochs"`
}

// Epoch is the time of one secret.
type Epoch struct {
	Number int    `json:"number"`
	Secret string `json:"secret"`
	// Closed is that of Header: the last files of the epoch before that count.
	Closed map[string]int `json:"closed,omitempty"`
}

// Load returns the configuration of a data directory, CodeNotFound if it has none.
func Load(dataDir string) (*Config, error) {
	var c Config
	err := File.Load(dataDir, &c)
	if seed, wrong := hex.DecodeString(c.Seed); err == nil && (wrong != nil || len(seed) != ed25519.SeedSize || len(c.Epochs) == 0) {
		err = File.Unfit("has no keys")
	}
	if err != nil {
		return nil, err
	}
	return &c, nil
}

func (c *Config) key() ed25519.PrivateKey {
	seed, _ := hex.DecodeString(c.Seed) // Load has checked it
	return ed25519.NewKeyFromSeed(seed)
}

// Device returns the name of this device.
func (c *Config) Device() string { return deviceOf(c.key().Public().(ed25519.PublicKey)) }

// current returns the epoch in use.
func (c *Config) current() *Epoch { return &c.Epochs[len(c.Epochs)-1] }

func (e *Epoch) secret() (s secret) {
	decoded, _ := hex.DecodeString(e.Secret) // a wrong one opens nothing
	copy(s[:], decoded)
	return s
}

// Place is where a memory is shared: a folder, and the address of the git repository by which it travels, if one does.
type Place struct{ Folder, Remote string }

// newConfig returns the configuration of a new device.
func newConfig(at Place, label string) (*Config, error) {
	folder, err := filepath.Abs(at.Folder)
	seed := make([]byte, ed25519.SeedSize)
	_, _ = rand.Read(seed) // never fails
	return &Config{Folder: folder, Remote: at.Remote, Label: label, Seed: hex.EncodeToString(seed)}, err
}

// files returns the names of our files in a folder, sorted. CodeStorage if it cannot be read.
func files(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, memory.Errorf(memory.CodeStorage, "read the folder of devices: %w", err).WithHint("see that it is mounted and can be read; `claude-mem sync now` tries again")
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), suffix) && e.Type().IsRegular() && !atomicfile.IsTemp(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// Init has a data directory share its memory at a place, and returns the words of the secret: they are
// shown once. CodeConflict if it shares it already, or another memory is in the folder.
func Init(ctx context.Context, dataDir string, at Place, label string) ([]string, error) {
	if File.In(dataDir) {
		return nil, memory.Errorf(memory.CodeConflict, "this memory is shared already").WithHint("`claude-mem sync status` shows by which folder, `claude-mem sync leave` ends it")
	}
	c, err := newConfig(at, label)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(c.Folder, 0o700); err != nil {
		return nil, memory.Errorf(memory.CodeStorage, "make the folder: %w", err)
	}
	if err := c.bring(ctx, dataDir); err != nil {
		return nil, err
	}
	if names, err := files(c.Folder); err != nil || len(names) > 0 {
		if err == nil {
			err = memory.Errorf(memory.CodeConflict, "there is a memory in the folder").WithHint("`claude-mem sync join DIR` joins it, with the words of its sheet")
		}
		return nil, err
	}
	s := newSecret()
	id := make([]byte, 16)
	_, _ = rand.Read(id) // never fails
	c.Memory, c.Epochs = hex.EncodeToString(id), []Epoch{{Number: 1, Secret: hex.EncodeToString(s[:])}}
	return s.words(), File.Save(dataDir, c)
}

// Join has a data directory share the memory at a place, whose secret the words are. One that shares it
// already gets a new epoch, and keeps its remote unless there is another one. CodeInvalid for other words than those of the folder.
func Join(ctx context.Context, dataDir string, at Place, label, sheet string) error {
	s, err := parseWords(sheet)
	if err != nil {
		return err
	}
	c, err := newConfig(at, label)
	if err != nil {
		return err
	}
	if File.In(dataDir) {
		fresh := c
		if c, err = Load(dataDir); err != nil {
			return err
		}
		c.Folder, c.Remote = fresh.Folder, cmp.Or(fresh.Remote, c.Remote)
	}
	if err := c.bring(ctx, dataDir); err != nil {
		return err
	}
	first, err := findFile(c.Folder, s)
	if err != nil {
		return err
	}
	if c.Memory != "" && c.Memory != first.Memory {
		return memory.Errorf(memory.CodeConflict, "the folder has another memory than the one that is shared").WithHint("`claude-mem sync leave` first")
	}
	c.Memory = first.Memory
	epoch := Epoch{Number: first.Epoch, Secret: hex.EncodeToString(s[:]), Closed: first.Closed}
	if i := slices.IndexFunc(c.Epochs, func(e Epoch) bool { return e.Secret == epoch.Secret }); i < 0 {
		c.Epochs = append(c.Epochs, epoch)
	}
	slices.SortFunc(c.Epochs, func(a, b Epoch) int { return a.Number - b.Number })
	return File.Save(dataDir, c)
}

// findFile returns the header of a file in a folder that a secret opens, the one with a list of closed files if there is one.
func findFile(folder string, s secret) (*Header, error) {
	names, err := files(folder)
	if err != nil {
		return nil, err
	}
	var found *Header
	for _, name := range names {
		content, _, err := openfile.WithinDir(folder, name, maxFile)
		if err != nil {
			continue
		}
		o, err := open(s, content)
		if err == nil && (found == nil || len(o.Closed) > 0) {
			found = &o.Header
		}
		if found != nil && len(found.Closed) > 0 {
			break
		}
	}
	if found == nil {
		return nil, memory.Errorf(memory.CodeInvalid, "the words open no file of the folder").WithHint("see that the folder was synchronised, and the sheet is that of its last rekey")
	}
	return found, nil
}

// Leave ends sharing. The memory stays as it is, and so do the files of this device in the folder.
func Leave(dataDir string) error {
	if err := File.Remove(dataDir); err != nil {
		return err
	}
	return os.RemoveAll(filepath.Join(dataDir, cloneName))
}
