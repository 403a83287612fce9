:- modeh(*,Head). :- modeb(*,short(+car)).
