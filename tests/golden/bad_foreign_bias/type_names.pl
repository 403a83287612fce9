body_pred(load,3).
type(load,(car,Shape,3)).
