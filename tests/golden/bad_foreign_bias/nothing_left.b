:- modeh(1,f(+run)).
