"""TimeLine: the events that involve an entity, in chronological order."""
