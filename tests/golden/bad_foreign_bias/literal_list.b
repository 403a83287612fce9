:- modeb(*,[short(+car)]).
