:- modeb(1.5,short(+car)).
