p("some text").
q("open).
r(b).
