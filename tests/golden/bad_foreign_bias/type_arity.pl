body_pred(load,3).
type(load,(car,shape)).
direction(load,(in,out)).
