body_pred(short,1).
type(short).
direction(short,1,in).
