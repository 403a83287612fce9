:- modeb(N,short(+car)).
