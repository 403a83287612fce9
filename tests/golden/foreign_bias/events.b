% The type of events is found by its name, and a link by that of its predicate.
:- modeh(*, fails(+run)).
:- modeb(*, step(+e, #activity)).
:- modeb(*, worker(+e, -person)).
:- modeb(*, next_s(+e, -e)).
:- modeb(*, follow_s(+e, -e)).
:- set(clauselength, 4).
% Of our own declarations, those that Aleph has no word for.
values(activity, [turning, milling]).
maxfollowat(3).
