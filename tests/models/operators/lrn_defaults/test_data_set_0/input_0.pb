J0®ˆBq=kÂHá"Á{DÂHázÁffèA®Ç¿Bq=¢@¤pèB
×$Bq=•B…+À