head_pred(f,1).
body_pred(near,99999999999).
body_pred(far,2).
