% Rules of answer sets and further properties.
body_pred(move,2).
body_pred(P,1) :- constant(P,_).
type(move,(state,state)).
direction(move,(in,out)).
constant(red,color).
prop(irreflexive,move).
#maximize{ 1 }.
