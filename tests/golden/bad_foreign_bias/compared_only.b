:- modeb(1, +size >= #size).
