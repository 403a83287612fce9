:- modeb(short(+car)).
