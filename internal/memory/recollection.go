package memory

// Checkout is the current state of the working tree of a session.
type Checkout struct {
	// Root is the worktree's root, which records' file paths are relative to; "" when unknown.
	Root string
	// Branch and HeadCommit are "" outside a git repository.
	Branch     string
	HeadCommit string
}

// RelatedRequest asks for observations related to a text that is no query: a prompt, an
// error, a summary. Dates, types and operators in it have no meaning.
type RelatedRequest struct {
	Text string
	// ProjectPath is the project's root path; "" is every project.
	ProjectPath string
	// Limit is how many are wanted at most; 0 is 20.
	Limit int
	// During is what the session is doing.
	During During
}

// Related is an observation near a text, with the evidence that it is about it.
type Related struct {
	Hit
	Evidence Evidence
}

// Evidence measures how much a record has to do with a text. The measures can be
// compared between texts and memories, unlike a score, which orders the records of one
// answer. All are 0 without any evidence.
type Evidence struct {
	// Words is how many distinct words of the text the record has, Of how many the text has.
	Words, Of int
	// Coverage is the share of the text's weight (the inverse document frequencies
	// of its words) that the record's words make up, 0 to 1.
	Coverage float64
	// Mass is that weight itself, in nats; Rarest that of the record's rarest word of the text.
	Mass, Rarest float64
	// Telling is how much the record's words of the text say anywhere, whatever their
	// frequency in this project: "webhook" two, "fix" half of one.
	Telling float64
	// Keyword is the BM25 sum before it is made a share of the best, Proximity what
	// of it comes from words that stand together.
	Keyword, Proximity float64
	// Names is how many identifiers of the text, as "parseExprList", the record has and
	// hardly another one of those that were found.
	Names int
	// Titled is the number of the title's distinct words that the text has, by the number of
	// them and one: a title of one word gets .5 at most. Stop words do not count.
	Titled float64
	// Likeness is the best cosine of a fragment, MaxSim the word by word likeness.
	Likeness, MaxSim float64
	// Known is the share of the text's weight in words that any record of the answer
	// has: what is left is about something that the memory has never heard of. Typical
	// is the mean likeness of the text with records that nobody chose, Spread the
	// standard deviation. Records is how many records were chosen from: the more there
	// are, the more look near by chance. They belong to the text and its project and
	// are the same for all records of an answer.
	Known, Typical, Spread float64
	Records                int
	// Files is the share that the record has of the files of the session, 0 to 1; 0 for a
	// record of that session, which has them by what it is. Days is its age.
	Files, Days float64
}

// Recollection holds the few lines that a session is given at a Moment. Mostly Text
// is empty: nothing is given.
type Recollection struct {
	Text string
	// Injection is what to book once the text was given.
	Injection Injection
}

// Shown lists the observations that a session was given since its last compaction,
// which removed earlier ones from its context.
type Shown struct {
	Observations []ObservationID
	// Said has the keys of the sentences of them that were said, as the injections have
	// them. Of an observation that it lacks nobody knows what was said.
	Said map[ObservationID][]uint32
	// CompactedAt is 0 when it never was compacted.
	CompactedAt Millis
	// Judged has the verdicts on records, of any session.
	Judged Judged
}
