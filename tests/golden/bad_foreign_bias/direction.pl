body_pred(load,2).
direction(load,(in,inout)).
