:- modeb(*,next_s(+e,-e)).
