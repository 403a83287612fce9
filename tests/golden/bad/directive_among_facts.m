:- set_lynx_flag('$minfreq',1).
begin(s1,a).
p(e1).
end.
