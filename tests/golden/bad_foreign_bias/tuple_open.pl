body_pred(load,2).
type(load,(car,shape).
