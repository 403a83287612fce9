body_pred(load,2).
type(laod,(car,shape)).
direction(wheels,(in,out)).
