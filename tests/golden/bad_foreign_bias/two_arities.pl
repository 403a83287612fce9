body_pred(short,1).
body_pred(short,2).
