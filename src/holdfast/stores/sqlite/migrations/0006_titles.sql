-- Titles state the verdict in at most twelve words. Those of before that are too long, cut, or name only a topic are made
-- anew of each lesson's own words (`retitle.py`); the schema stays. One that a person chose is none of these.
SELECT 1;
