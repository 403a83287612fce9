% As such files are found: a module, flags, comparisons, negation, background knowledge.
:- module(active, [active/1]).
:- use_module(library(lists)).
:- dynamic(lumo/2).
:- discontiguous atm/5, bond/4.
:- model(charge/1).
:- set(i, 3).
:- aleph_set(noise, 5).

:- modeh(1, active(+drug)).
:- modeb(*, atm(+drug, -atomid, #element, #int, -charge)).
:- modeb(*, bond(+drug, -atomid, -atomid, #int)).
:- modeb(1, +charge >= #charge).
:- modeb(1, (+charge) =< (#charge)).
:- modeb(1, =(+charge, #charge)).
:- modeb(1, ((+list) = ([-int|-list]))).
:- modeb(*, \+ lumo(+drug, #energy)).
:- modeb(*, not(lumo(+drug, #energy))).

:- determination(active/1, atm/5).
:- determination(active/1, bond/4).
:- determination(active/1, '>='/2).
:- determination(active/1, (=<)/2).
:- determination(active/1, not/1).

atm(d1, d1_1, c, 22, -0.117).
bond(d1, d1_1, d1_2, 7).
heavy(X) :- atm(X, _, E, _, _), E \= h.
