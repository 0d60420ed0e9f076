"""TimeLine: which events befell an entity, and in which order?"""
