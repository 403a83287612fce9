:- modeb(*,load(+car,5)).
