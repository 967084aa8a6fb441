-- Schema 9: a file filter finds a path by any part of its text, which package records looks for in
-- the paths themselves.
DROP TRIGGER paths_keyed;
DROP TABLE path_segments;
