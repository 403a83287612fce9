body_pred(short,-1).
body_pred(load,two).
head_pred(f,1.5).
