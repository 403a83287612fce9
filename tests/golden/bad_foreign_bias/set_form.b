:- modeb(*,short(+car)).
:- set(clauselength).
:- aleph_set(4,clauselength).
