-- Schema 8: what was forgotten, what strangers wrote and what came from outside are told apart.

-- Erasures.

-- Words of strangers.

-- Records of other memories.

-- Who wrote a record.
