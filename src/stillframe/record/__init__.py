"""The record: every stop of every run, kept in one SQLite file of the user's, written before the caller is answered."""
