body_pred(short,1).
type(short,(car,)).
type(short,(wagon,)).
