package memory

// DevicesStatus is what a device knows of itself and of the others that have the same memory.
type DevicesStatus struct {
	Folder string `json:"folder"`
	// Remote is the address of the git repository by which the folder travels.
	Remote string `json:"remote,omitempty"`
	Device string `json:"device"`
	Label  string `json:"label"`
	// SyncedAt is when it last looked, Fault how that failed.
	SyncedAt Millis   `json:"synced_at_epoch,omitempty"`
	Fault    string   `json:"fault,omitempty"`
	Devices  []Device `json:"devices"`
	// Refused are the files that were refused and are still there.
	Refused []RefusedFile `json:"refused"`
	// Contested are records with texts of edits that did not know of each other.
	Contested []Contested `json:"contested"`
}

// Device is another device as this one knows it.
type Device struct {
	Device string `json:"device"`
	Label  string `json:"label"`
	// SeenAt is when its last file came.
	SeenAt  Millis `json:"seen_at_epoch"`
	Retired bool   `json:"retired,omitempty"`
	// Missing are its files that count and are not here, Behind how many of this device's it has not taken in.
	Missing int `json:"missing"`
	Behind  int `json:"behind"`
	// Lost says that another device has files of it that are not in the folder: it was put back to an earlier state.
	Lost bool `json:"lost,omitempty"`
}

// RefusedFile is a file of the folder, and why it was refused.
type RefusedFile struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// Contested is an observation or a learning whose text was edited on devices that did not know of each other's edit.
type Contested struct {
	RecordRef
	Text string `json:"text"`
	// Others are the texts that did not become current, the last one first.
	Others []Version `json:"others"`
}
