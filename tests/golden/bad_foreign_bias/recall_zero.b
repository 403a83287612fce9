:- modeb(0,short(+car)).
