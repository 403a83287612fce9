:- modeb(*,short(+car)).
:- determination(f/1,shrt/1).
:- determination(f/1,closed/1).
