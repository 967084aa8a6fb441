// The live feed.
