:- modeb(*,short(+car)).
:- modebb(*,long(+car)).
:- determinaton(f/1,short/1).
