:- modeb(*,short(+car)).
:- modeb(*,short(+car,-car)).
