body_pred(short).
body_pred(Short,1).
