:- modeb(*,load(+car,-)).
