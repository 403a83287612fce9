:- modeb(*,short(+car)).
:- determination(f,short/1).
:- determination(f/1,short/one).
:- determination(f/1).
