:- modeb(*,step(+event,#kind)).
values(kinds,[a,b]).
dimension(s).
