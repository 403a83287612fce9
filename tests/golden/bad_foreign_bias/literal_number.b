:- modeb(*,5).
