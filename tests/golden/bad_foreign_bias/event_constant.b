:- modeb(*,step(+run,#event)).
