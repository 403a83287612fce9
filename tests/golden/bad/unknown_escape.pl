p('C:\data\x').
