:- modeb(*,load(+car,-Shape)).
