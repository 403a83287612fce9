:- modeb(*,short(+car))
