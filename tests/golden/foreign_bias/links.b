% What next_s links are events, whatever their type is called.
:- modeb(*,next_s(+car,-car)).
:- modeb(*,load(+car,#shape)).
:- modeb(*,near(+car,+car)).
