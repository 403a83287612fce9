body_pred(short,1).
body_prd(long,1).
max_bdy(3).
