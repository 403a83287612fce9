:- modeb(*,short(+car).
