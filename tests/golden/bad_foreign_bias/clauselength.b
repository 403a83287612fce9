:- modeb(*,short(+car)).
:- set(clauselength,many).
:- set(minpos,0).
:- set(clauselength,0).
