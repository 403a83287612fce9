:- modeb(*,load(+car,?shape)).
