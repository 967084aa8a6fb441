package devices

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"claudemem/internal/keep/store/care"
	"claudemem/internal/leaf/openfile"
	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/move/joined"
)

// Store is what Sync needs of the store.
type Store interface {
	joined.Store
	NoteEdits(ctx context.Context, sharing care.Sharing) error
	Unsent(ctx context.Context, page care.SharedPage) ([]memory.Shared, care.SharedPage, error)
	MarkSent(ctx context.Context, page care.SharedPage, state map[string]any) error
	Merge(ctx context.Context, sharing care.Sharing, incoming []memory.Shared, state map[string]any) (added, erased int, err error)
	ShareAnew(ctx context.Context) error
}

// Options are what Sync takes from outside.
type Options struct {
	joined.Options
	// Projects are directories of projects that may have no records yet.
	Projects []string
	// TransferTime bounds a fetch and a push by git, 15 minutes if it is 0.
	TransferTime time.Duration
}

// mostRefused bounds the refused files that are remembered.
const mostRefused = 500

// own is what a device knows of its own files.
type own struct {
	Memory string `json:"memory"`
	Device string `json:"device"`
	Epoch  int    `json:"epoch"`
	Number int    `json:"number"`
	Hash   string `json:"hash"`
	// Live are the sizes of the files that count, Snapshot those of them with all of its records, Empty those without any.
	Live     map[int]int64 `json:"live"`
	Snapshot []int         `json:"snapshot"`
	Empty    []int         `json:"empty,omitempty"`
	// Times are when the live files were written, as the folder says, when they were last found to be whole; Old are files that
	// others have replaced and that are not deleted yet.
	Times map[int]int64 `json:"times,omitempty"`
	Old   []int         `json:"old,omitempty"`
	// Every is the epoch that this device has begun, 0 for none.
	Every int `json:"every,omitempty"`
	// Secrets is how many there were: with a new one, refused files are looked at again.
	Secrets int `json:"secrets"`
	// Anew says that a snapshot is due.
	Anew bool `json:"anew,omitempty"`
	// Told is the vector of the last file, Asked what it said is missing.
	Told  map[string]int   `json:"told,omitempty"`
	Asked map[string][]int `json:"asked,omitempty"`
	// Retired are the devices that were retired.
	Retired map[string]int `json:"retired,omitempty"`
	At      memory.Millis  `json:"at"`
	Fault   string         `json:"fault,omitempty"`
}

// peer is what is known of another device.
type peer struct {
	Label  string         `json:"label"`
	Number int            `json:"number"`
	Hash   string         `json:"hash"`
	Live   []int          `json:"live"`
	Got    []int          `json:"got"`
	Vector map[string]int `json:"vector,omitempty"`
	// Missing are the files that it lacks.
	Missing map[string][]int `json:"missing,omitempty"`
	At      memory.Millis    `json:"at"`
	// Filled is the number of its last file with records.
	Filled int `json:"filled"`
}

// holes returns the files that count and are not here.
func (p *peer) holes() (missing []int) {
	for _, n := range p.Live {
		if !slices.Contains(p.Got, n) {
			missing = append(missing, n)
		}
	}
	return missing
}

// whole returns the number up to which all files are here.
func (p *peer) whole() int {
	if holes := p.holes(); len(holes) > 0 {
		return slices.Min(holes) - 1
	}
	return p.Number
}

// Refused is a file that was not taken in.
type Refused struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
	// Hash is that of its content: another content is looked at again.
	Hash string `json:"hash"`
	// Quiet is for files that a device has replaced, and are about to be deleted.
	Quiet bool `json:"quiet,omitempty"`
}

// Report is what a Sync did.
type Report struct {
	// Sent and Received count records, Added those of them that were not here.
	Sent     int `json:"sent"`
	Received int `json:"received"`
	Added    int `json:"added"`
	// Refused are the files that were refused for the first time.
	Refused []Refused `json:"refused"`
	// Words are those of a new secret, Fault how the exchange failed after that was made.
	Words []string `json:"words,omitempty"`
	Fault string   `json:"fault,omitempty"`
}

// syncing is one Sync.
type syncing struct {
	Options
	store   Store
	cfg     *Config
	own     own
	peers   map[string]*peer
	refused map[string]Refused
	report  Report
	// present are the files of the folder.
	present map[string]bool
}

// Sync notes what was done here, takes in what the folder has of other devices, and writes what they do not
// have. It can be interrupted at any moment, and called again. CodeNotFound if the memory is on one
// device; CodeStorage for a folder that is gone, full or cannot be written: nothing is lost then.
func Sync(ctx context.Context, store Store, o Options) (Report, error) {
	s, err := begin(ctx, store, o)
	if err != nil {
		return Report{}, err
	}
	return s.report, s.noted(ctx, s.exchange(ctx))
}

// begin reads what is known.
func begin(ctx context.Context, store Store, o Options) (*syncing, error) {
	cfg, err := Load(o.DataDir)
	if err != nil {
		return nil, err
	}
	o.Device = cfg.Device()
	s := &syncing{Options: o, store: store, cfg: cfg, report: Report{Refused: []Refused{}}}
	if err := s.readState(ctx); err != nil {
		return nil, err
	}
	if s.own.Memory == cfg.Memory && s.own.Device == s.Device {
		if s.own.Secrets != len(cfg.Epochs) { // what it could not open may be of another epoch
			s.own.Secrets, s.refused = len(cfg.Epochs), map[string]Refused{}
		}
		return s, nil
	}
	// It has joined since the last Sync, perhaps another memory.
	if err := store.ShareAnew(ctx); err != nil {
		return nil, err
	}
	s.own, s.peers, s.refused = own{Memory: cfg.Memory, Device: s.Device, Epoch: cfg.current().Number, Live: map[int]int64{}, Secrets: len(cfg.Epochs), Anew: true}, map[string]*peer{}, map[string]Refused{}
	return s, store.KeepSharedState(ctx, s.state())
}

func (s *syncing) readState(ctx context.Context) error {
	s.peers, s.refused = map[string]*peer{}, map[string]Refused{}
	return errors.Join(s.store.SharedState(ctx, "own", &s.own), s.store.SharedState(ctx, "peers", &s.peers), s.store.SharedState(ctx, "refused", &s.refused))
}

func (s *syncing) state() map[string]any {
	return map[string]any{"own": s.own, "peers": s.peers, "refused": s.refused}
}

// noted notes how a Sync ended.
func (s *syncing) noted(ctx context.Context, err error) error {
	s.own.At, s.own.Fault = s.Now(), ""
	if err != nil {
		s.own.Fault = err.Error()
	}
	return errors.Join(err, s.store.KeepSharedState(context.WithoutCancel(ctx), s.state()))
}

func (s *syncing) run(ctx context.Context) error {
	if err := s.IdentifyProjects(ctx, s.store, s.Projects...); err != nil {
		return err
	}
	if err := s.store.NoteEdits(ctx, s.Sharing); err != nil {
		return err
	}
	if err := s.pull(ctx); err != nil {
		return err
	}
	// What it took in may have erased more.
	if err := s.store.NoteEdits(ctx, s.Sharing); err != nil {
		return err
	}
	return s.push(ctx)
}

// list reads the names of the files in the folder.
func (s *syncing) list() error {
	names, err := files(s.cfg.Folder)
	s.present = map[string]bool{}
	for _, name := range names {
		s.present[name] = true
	}
	return err
}

// known returns the names of files that are taken in, or this device's own.
func (s *syncing) known() map[string]bool {
	known := map[string]bool{}
	for i := range s.cfg.Epochs {
		names := s.cfg.Epochs[i].secret().names()
		for device, p := range s.peers {
			for _, n := range p.Got {
				known[names.of(device, n)] = true
			}
		}
		for _, n := range append(slices.Collect(maps.Keys(s.own.Live)), s.own.Old...) {
			known[names.of(s.own.Device, n)] = true
		}
	}
	return known
}

// waiting is a file that is not taken in yet.
type waiting struct {
	name, device string
	number       int
}

// pull takes in the files of other devices, in the order of their numbers.
func (s *syncing) pull(ctx context.Context) error {
	if err := s.list(); err != nil {
		return err
	}
	maps.DeleteFunc(s.refused, func(name string, _ Refused) bool { return !s.present[name] })
	known := s.known()
	var list []waiting
	for name := range s.present {
		if known[name] {
			continue
		}
		if o, _, err := s.read(name); err == nil && o.Device == s.own.Device && o.Number <= s.own.Number {
			s.own.Old = append(s.own.Old, o.Number) // a copy that was put back
		} else if err == nil {
			list = append(list, waiting{name, o.Device, o.Number})
		} else if ctx.Err() != nil || memory.CodeOf(err) == memory.CodeStorage {
			return errors.Join(ctx.Err(), err)
		}
	}
	slices.SortFunc(list, func(a, b waiting) int { return a.number - b.number })
	for _, w := range list {
		if err := s.take(ctx, w.name); err != nil {
			return err
		}
	}
	return nil
}

// errGone is the error of a file that was deleted meanwhile, or was refused.
var errGone = errors.New("the file is not there, or was refused")

// read opens a file of the folder. One that cannot be opened is refused: errGone.
func (s *syncing) read(name string) (*opened, string, error) {
	content, _, err := openfile.WithinDir(s.cfg.Folder, name, maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, "", errGone
	case errors.Is(err, openfile.ErrUnfit):
		s.refuse(name, "", "it is too large, or being written", false)
		return nil, "", errGone
	case err != nil:
		return nil, "", memory.Errorf(memory.CodeStorage, "read a file of the folder: %w", err)
	}
	hash := hashOf(content)
	if r, refused := s.refused[name]; refused && r.Hash == hash {
		return nil, "", errGone
	}
	reason := errForeign
	for i := len(s.cfg.Epochs) - 1; i >= 0; i-- {
		epoch := &s.cfg.Epochs[i]
		o, err := open(epoch.secret(), content)
		if errors.Is(err, errForeign) {
			continue
		}
		if err == nil {
			err = s.check(o, epoch, i, name)
		}
		if err == nil {
			return o, hash, nil
		}
		reason = err
		break
	}
	s.refuse(name, hash, reason.Error(), errors.Is(reason, errReplaced))
	return nil, "", errGone
}

// errReplaced is the reason for a file that its device has replaced.
var errReplaced = errors.New("an old copy: its device has replaced it")

// check returns why a file that was opened with the secret of an epoch does not count.
func (s *syncing) check(o *opened, epoch *Epoch, i int, name string) error {
	p := s.peers[o.Device]
	last, retired := s.own.Retired[o.Device]
	switch {
	case o.Memory != s.cfg.Memory:
		return bad("it belongs to another memory")
	case name != epoch.secret().names().of(o.Device, o.Number):
		return bad("its name is that of another file")
	case o.Epoch != epoch.Number:
		return bad("it names another epoch than that of its secret")
	case retired && o.Number > last:
		return bad("its device is retired")
	case i+1 < len(s.cfg.Epochs) && o.Number > s.cfg.Epochs[i+1].Closed[o.Device] && o.Device != s.own.Device:
		return bad("it was written with the old words after they were changed")
	case p != nil && o.Number <= p.Number && !slices.Contains(p.Live, o.Number):
		return errReplaced
	case p != nil && o.Number == p.Number+1 && p.Hash != "" && o.Previous != p.Hash:
		return bad("its device has gone back to an earlier state, or is there twice")
	case !slices.Contains(o.Live, o.Number):
		return bad("its header is impossible")
	}
	return nil
}

// refuse notes that a file was refused, which is told once.
func (s *syncing) refuse(name, hash, reason string, quiet bool) {
	r := Refused{name, reason, hash, quiet}
	if old, known := s.refused[name]; len(s.refused) >= mostRefused && !known || known && old == r {
		return
	}
	s.refused[name] = r
	s.report.Refused = append(s.report.Refused, r)
}

// take takes a file in. A file that cannot be is refused, which is no error.
func (s *syncing) take(ctx context.Context, name string) error {
	o, hash, err := s.read(name)
	if errors.Is(err, errGone) {
		return nil
	}
	if err != nil {
		return err
	}
	states, err := o.states()
	if err == nil {
		for i := range states {
			if !states[i].Gone {
				if _, err = care.PortableOf(&states[i]); err != nil {
					break
				}
			}
		}
	}
	if err == nil {
		err = care.CheckShared(states)
	}
	if err != nil {
		s.refuse(name, hash, err.Error(), false)
		return nil
	}
	states = slices.DeleteFunc(states, func(r memory.Shared) bool { return !care.Redact(&r, s.Redact) })
	// Sessions before what belongs to them, and all in the order of their making, so that numbers are in that order here too.
	slices.SortStableFunc(states, func(a, b memory.Shared) int {
		if (a.Kind == "session") != (b.Kind == "session") {
			return map[bool]int{true: -1, false: 1}[a.Kind == "session"]
		}
		return cmp.Compare(a.ULID, b.ULID)
	})
	s.accept(o, hash)
	delete(s.refused, name)
	added, erased, err := s.store.Merge(ctx, s.Sharing, states, s.state())
	s.report.Received += len(states)
	s.report.Added += added
	s.own.Anew = s.own.Anew || erased > 0 // files of this device may have it
	if err != nil {
		return errors.Join(err, s.readState(ctx)) // as they are kept: it is taken in again
	}
	return nil
}

// accept notes that a file is taken in.
func (s *syncing) accept(o *opened, hash string) {
	for device, last := range o.Retired {
		s.retire(device, last)
	}
	if o.Device == s.own.Device { // this device was restored from a backup
		s.own.Number, s.own.Hash, s.own.Anew = max(s.own.Number, o.Number), hash, true
		s.own.Live[o.Number] = 0
		return
	}
	p := s.peers[o.Device]
	if p == nil {
		p = &peer{}
		s.peers[o.Device] = p
	}
	p.Got = append(p.Got, o.Number)
	if o.Records > 0 {
		p.Filled = max(p.Filled, o.Number)
	}
	if o.Number > p.Number {
		p.Label, p.Number, p.Hash, p.Live, p.Vector, p.Missing, p.At = o.Label, o.Number, hash, o.Live, o.Vector, o.Missing, s.Now()
	}
	p.Got = slices.DeleteFunc(p.Got, func(n int) bool { return !slices.Contains(p.Live, n) })
}

func (s *syncing) retire(device string, last int) {
	if s.own.Retired == nil {
		s.own.Retired = map[string]int{}
	}
	if old, retired := s.own.Retired[device]; device != s.own.Device && (!retired || last < old) {
		s.own.Retired[device] = last
	}
}

// longestName bounds the name of a project.
const longestName = 100

// Link calls a project by a name on this device: the records of projects of this name are one project's on all devices. CodeInvalid
// for a name that cannot be one.
func Link(ctx context.Context, store Store, o Options, project, name string) (Report, error) {
	if name == "" || len(name) > longestName || name != text.Line(name) || project == "" {
		return Report{}, memory.Errorf(memory.CodeInvalid, "the name of a project is a line of up to %d bytes", longestName)
	}
	s, err := begin(ctx, store, o)
	if err != nil {
		return Report{}, err
	}
	if err := store.SetIdentities(ctx, s.own.Device, map[string]string{project: memory.NamedProject + name}); err != nil {
		return Report{}, err
	}
	return s.report, s.noted(ctx, s.run(ctx))
}

// Rekey begins a new epoch: with a secret that is typed on each of the other devices. What is written with the old
// one beyond the files that are here is refused.
func Rekey(ctx context.Context, store Store, o Options) (Report, error) {
	if _, err := Sync(ctx, store, o); err != nil {
		return Report{}, err
	}
	s, err := begin(ctx, store, o)
	if err != nil {
		return Report{}, err
	}
	closed := map[string]int{s.own.Device: s.own.Number}
	for device, p := range s.peers {
		closed[device] = p.Number
	}
	fresh := newSecret()
	s.cfg.Epochs = append(s.cfg.Epochs, Epoch{Number: s.cfg.current().Number + 1, Secret: hex.EncodeToString(fresh[:]), Closed: closed})
	s.own.Every, s.own.Secrets = s.cfg.current().Number, len(s.cfg.Epochs)
	if err := errors.Join(store.KeepSharedState(ctx, s.state()), File.Save(o.DataDir, s.cfg)); err != nil {
		return Report{}, err
	}
	// The words are returned whatever happens: this device has begun with them.
	if err := s.noted(ctx, s.exchange(ctx)); err != nil {
		s.report.Fault = err.Error()
	}
	s.report.Words = fresh.words()
	return s.report, nil
}

// Retire has the files that a device, named by its id or what it is called, writes from now on refused by
// all. CodeNotFound for an unknown device, CodeInvalid for what several are called.
func Retire(ctx context.Context, store Store, o Options, device string) (Report, error) {
	s, name, err := beginWith(ctx, store, o, device)
	if memory.CodeOf(err) == memory.CodeNotFound { // it may have joined since the last exchange
		if _, err = Sync(ctx, store, o); err == nil {
			s, name, err = beginWith(ctx, store, o, device)
		}
	}
	if err != nil {
		return Report{}, err
	}
	s.retire(name, s.peers[name].Number)
	if err := s.list(); err != nil {
		return Report{}, err
	}
	if err := s.writeFile(ctx, nil, care.SharedPage{}, nil); err != nil {
		return Report{}, err
	}
	return s.report, s.noted(ctx, s.exchange(ctx))
}

// beginWith is begin, with the id of a device that is not retired.
func beginWith(ctx context.Context, store Store, o Options, device string) (s *syncing, name string, err error) {
	if s, err = begin(ctx, store, o); err != nil {
		return nil, "", err
	}
	if s.peers[device] != nil {
		return s, device, nil
	}
	var called []string
	for name, p := range s.peers {
		if _, retired := s.own.Retired[name]; p.Label == device && !retired {
			called = append(called, name)
		}
	}
	switch slices.Sort(called); len(called) {
	case 0:
		return nil, "", memory.Errorf(memory.CodeNotFound, "there is no other device %.60q", device).WithHint("`claude-mem sync devices` lists them")
	case 1:
		return s, called[0], nil
	}
	return nil, "", memory.Errorf(memory.CodeInvalid, "several devices are called %.60q", device).WithHint("name one of " + strings.Join(called, ", "))
}
