:- modeb(*,'short(+car)).
