p(`abc`).
