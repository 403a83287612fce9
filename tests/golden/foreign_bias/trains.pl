% Trains as Popper has them.
max_vars(5).
max_body(4).
max_clauses(3).
enable_recursion.
head_pred(f,1).
body_pred(has_car,2).
body_pred(short,1).
body_pred(load,3).
type(f,(train,)).
type(has_car,(train,car)).
type(short,(car,)).
type(load,(car,shape,number)).
direction(f,(in,)).
direction(has_car,(in,out)).
direction(short,(in,)).
direction(load,(in,out,out)).
:- clause(C), #count{V : clause_var(C,V)} != 1.
