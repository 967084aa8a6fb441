// Changes of an observation.
