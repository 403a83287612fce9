:- modeb(*,load(+car #shape)).
