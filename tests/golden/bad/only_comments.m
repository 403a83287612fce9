% nothing here
/* nor here */
