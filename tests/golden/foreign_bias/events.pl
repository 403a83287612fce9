% No directions, and one predicate without types.
head_pred(fails,1).
body_pred(step,2).  body_pred(next_s,2).
body_pred(same_worker,2).
body_pred(rework,1).
body_pred(night,0).
type(step,(event,activity)).
type(next_s,(event,event)).
type(rework,(event)).
maxsize(2).
max_body(6).
