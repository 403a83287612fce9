:- modeb(*,load(+car,##shape)).
