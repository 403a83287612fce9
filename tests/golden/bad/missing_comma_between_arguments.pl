name(lynx, iberian lynx).
