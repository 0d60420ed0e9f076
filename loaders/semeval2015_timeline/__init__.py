"""SemEval-2015 Task 4, TimeLine: what happened to an entity, in which order and when, over many documents?"""
