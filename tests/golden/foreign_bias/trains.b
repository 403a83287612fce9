% Trains as Aleph has them: two limits, modes, determinations, and facts below them.
:- use_module(library(aleph)).
:- aleph.
:- set(i,2).
:- set(clauselength,5).
:- set(minpos,2).
:- set(verbosity,0).

:- modeh(1,eastbound(+train)).
:- modeb(*,has_car(+train,-car)).
:- modeb(1,short(+car)).
:- modeb(1,load(+car,#shape,#number)).
:- modeb(*,wheels(+car,-#number)).
:- modeb(1,not(closed(+car))).
:- modeb(*,behind(+car,-car)).

:- determination(eastbound/1,has_car/2).
:- determination(eastbound/1,short/1).
:- determination(eastbound/1,load/3).
:- determination(eastbound/1,wheels/2).

has_car(east1,car_11).
behind(X,Y) :- next_to(X,Y), X \= Y, !.
