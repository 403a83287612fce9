:- modeb(*,short(+car)).
:- determination(f/1,short/2).
