% Modes of one predicate add up when their types agree; many outputs are not combined.
:- modeb(*,bond(+atom,-atom,#kind)).
:- modeb(*,bond(-atom,+atom,#kind)).
:- modeb(*,bond(+atom,-ring,#kind)).
:- modeb(3,cell(+place,-color,-piece,-row,-column)).
:- modeb(*,pair(f(+atom,#kind),-(ring))).
:- set(clauselength,1).
