-- path_segments holds the keys of words.PathKeys from here on: the parts of each
-- segment in lower case. The step's Go code fills it.
DELETE FROM path_segments;
