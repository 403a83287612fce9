:- modeb(*,load(+car,shape)).
