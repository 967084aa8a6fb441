package team

// ChosenRecords is the query by which a search reads what it has found.
const ChosenRecords = chosenRecords
